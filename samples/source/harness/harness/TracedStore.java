package harness;

import blockstore.handover.FolderStore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Keeps beside each value the request of who put it. */
final class TracedStore extends FolderStore {
    private final Path units;

    TracedStore(Path folder) {
        super(folder);
        this.units = folder.resolve("units");
    }

    @Override
    public void put(String key, byte[] value) throws IOException {
        Files.createDirectories(units);
        Files.writeString(units.resolve(key), Truth.unit());
        super.put(key, value);
    }

    @Override
    public byte[] take(String key) throws IOException {
        byte[] value = super.take(key);
        Path unit = units.resolve(key);
        Truth.enter(Files.readString(unit));
        Files.delete(unit);
        return value;
    }
}
