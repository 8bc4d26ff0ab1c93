package blockstore.server;

import blockstore.background.VerifyJob;
import blockstore.data.Block;
import blockstore.data.CopiedReplica;
import blockstore.data.Replica;
import blockstore.data.Role;
import blockstore.wire.CopyRequest;
import blockstore.wire.DeleteRequest;
import blockstore.wire.OpCode;
import blockstore.wire.Outcome;
import blockstore.wire.ReadRequest;
import blockstore.wire.Reply;
import blockstore.wire.StatusRequest;
import blockstore.wire.VerifyRequest;
import blockstore.wire.WriteRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;

/** Serves one connection: reads an operation, carries it out, and waits for the next. */
class ClientHandler implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientHandler.class);

    private final Socket socket;
    private final Services services;
    private final String peer;
    private DataInputStream in;
    private DataOutputStream out;

    ClientHandler(Socket socket, Services services) {
        this.socket = socket;
        this.services = services;
        this.peer = socket.getRemoteSocketAddress().toString();
    }

    @Override
    public void run() {
        OpCode op = null;
        try {
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            while (true) {
                op = null;
                op = OpCode.read(in);
                dispatch(op);
            }
        } catch (EOFException e) {
            if (LOG.isDebugEnabled()) {
                LOG.debug("Connection from " + peer + " ends");
            }
        } catch (IOException | InterruptedException e) {
            LOG.error("Operation " + (op == null ? "unknown" : op.name()) + " from " + peer + " fails", e);
        } finally {
            close();
        }
    }

    private void dispatch(OpCode op) throws IOException, InterruptedException {
        switch (op) {
            case WRITE:
                WriteRequest write = new WriteRequest();
                write.readFields(in);
                writeBlock(write);
                break;
            case READ:
                ReadRequest read = new ReadRequest();
                read.readFields(in);
                readBlock(read.getBlock());
                break;
            case DELETE:
                DeleteRequest delete = new DeleteRequest();
                delete.readFields(in);
                deleteBlock(delete.getBlock());
                break;
            case VERIFY:
                VerifyRequest verify = new VerifyRequest();
                verify.readFields(in);
                verifyBlock(verify.getBlock(), verify.getHolder());
                break;
            case COPY:
                CopyRequest copy = new CopyRequest();
                copy.readFields(in);
                copyBlock(copy);
                break;
            case STATUS:
                StatusRequest status = new StatusRequest();
                status.readFields(in);
                blockStatus(status.getBlock());
                break;
            default:
                throw new IOException("operation " + op + " is not served");
        }
    }

    private void writeBlock(WriteRequest request) throws IOException, InterruptedException {
        Block block = request.getBlock();
        Role role = Role.of(request.isFirst(), request.getTargets().size());
        LOG.info("Receiving " + block + " from " + peer + " as " + role
                + (role == Role.TAIL ? "" : ", then " + request.route()));
        Downstream downstream = null;
        if (role != Role.TAIL) {
            downstream = new Downstream(services.network, request);
        }
        try {
            AckResponder responder = new AckResponder(block, role, downstream, out, services.table);
            responder.start();
            new BlockReceiver(in, downstream, responder).receive();
            responder.join();
        } finally {
            if (downstream != null) {
                downstream.close();
            }
        }
    }

    private void readBlock(Block block) throws IOException {
        long start = System.nanoTime();
        LOG.info("Reading {} for {}", block, peer);
        try {
            byte[] bytes = services.table.get(block).getBytes();
            reply(Outcome.DONE, bytes);
            LOG.info("Served {} bytes of {} to {} in {} us",
                    bytes.length, block, peer, (System.nanoTime() - start) / 1000);
        } catch (IOException e) {
            LOG.warn("Cannot serve " + block + " to " + peer, e);
            reply(Outcome.ABSENT, new byte[0]);
        }
    }

    private void deleteBlock(Block block) throws IOException {
        LOG.info("Scheduling {} for deletion, asked by {}", block, peer);
        services.reaper.schedule(block);
        reply(Outcome.DONE, new byte[0]);
    }

    private void verifyBlock(Block block, String holder) throws IOException, InterruptedException {
        LOG.info("Verification of {} asked by {}, another copy is at {}", block, peer, holder);
        services.verifier.submit(new VerifyJob(block, holder));
        reply(Outcome.DONE, new byte[0]);
    }

    private void copyBlock(CopyRequest request) throws IOException {
        Block block = request.getBlock();
        LOG.info("Copying {} from {} at {}", block, request.getOrigin(), peer);
        Replica replica = new CopiedReplica(block, request.getBytes(), request.getOrigin());
        services.table.add(replica);
        LOG.info("Copied " + replica);
        reply(Outcome.DONE, new byte[0]);
    }

    private void blockStatus(Block block) throws IOException {
        Replica replica = services.table.find(block);
        LOG.info("Status of " + block + " for " + peer + ": " + (replica == null ? "absent" : replica));
        reply(replica == null ? Outcome.ABSENT : Outcome.DONE, new byte[0]);
    }

    private void reply(Outcome outcome, byte[] bytes) throws IOException {
        new Reply(outcome, bytes).write(out);
        out.flush();
    }

    private void close() {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("Closing the connection from {} fails", peer);
        }
    }
}
