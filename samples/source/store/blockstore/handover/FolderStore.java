package blockstore.handover;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A keyed store in a folder that all nodes see: one file per key. */
public class FolderStore implements KeyedStore {
    private final Path folder;

    public FolderStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public void put(String key, byte[] value) throws IOException {
        Path part = folder.resolve("part-" + key);
        Files.write(part, value);
        Files.move(part, folder.resolve(key), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public byte[] take(String key) throws IOException {
        Path file = folder.resolve(key);
        byte[] value = Files.readAllBytes(file);
        Files.delete(file);
        return value;
    }

    @Override
    public String next(String prefix) throws IOException {
        String least = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, prefix + "*")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (least == null || name.compareTo(least) < 0) {
                    least = name;
                }
            }
        }
        return least;
    }
}
