package blockstore.server;

import blockstore.Network;
import blockstore.background.Reaper;
import blockstore.background.Verifier;
import blockstore.data.BlockTable;

/** What every client handler of a node shares. */
public class Services {
    final Network network;
    final BlockTable table;
    final Reaper reaper;
    final Verifier verifier;

    public Services(Network network, BlockTable table, Reaper reaper, Verifier verifier) {
        this.network = network;
        this.table = table;
        this.reaper = reaper;
        this.verifier = verifier;
    }
}
