package harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes `logs` and `expected` of a finished run and checks that the truth
 * covers every line. Arguments: the run's folder, the folder to fill.
 */
public final class Collect {
    private static final List<String> NODES = Arrays.asList("a", "b", "c");
    private static final String TRUTH_HEADER = "node\tline\tn_lines\tthread\tlog_point\tlevel\tunit\top";
    private static final String REQUESTS_HEADER = "request_type\tnodes\tn_events\tstart\tend\tunit";

    private static final int MILLIS_LENGTH = "yyyy-MM-dd HH:mm:ss,SSS".length();

    private Collect() {
    }

    private static final class Request {
        private final TreeSet<String> nodes = new TreeSet<>();
        private int events;
        private String start;
        private String end;
        private String firstMethod;

        private void add(String node, String site, String time) {
            nodes.add(node);
            events++;
            if (start == null || time.compareTo(start) < 0) {
                start = time;
                firstMethod = site.substring(0, site.lastIndexOf(':'));
            }
            if (end == null || time.compareTo(end) > 0) {
                end = time;
            }
        }
    }

    public static void main(String[] args) throws IOException {
        Path run = Paths.get(args[0]);
        Path logs = Files.createDirectories(Paths.get(args[1], "logs"));
        Path expected = Files.createDirectories(Paths.get(args[1], "expected"));
        List<String> truth = new ArrayList<>(List.of(TRUTH_HEADER));
        Map<String, Request> requests = new TreeMap<>();
        for (String node : NODES) {
            List<String> log = Files.readAllLines(run.resolve(node + ".log"));
            int next = 1;
            for (String row : Files.readAllLines(run.resolve(node + ".truth"))) {
                String[] cell = row.split("\t");
                check(Integer.parseInt(cell[1]) == next, node + ": line " + next + " is not covered");
                check(log.get(next - 1).startsWith(cell[8].substring(0, MILLIS_LENGTH) + " " + cell[5] + " "), node + ":" + next + " differs");
                next += Integer.parseInt(cell[2]);
                truth.add(String.join("\t", Arrays.copyOf(cell, 8)));
                if (!cell[6].equals(Truth.NONE)) {
                    requests.computeIfAbsent(cell[6], unit -> new Request()).add(node, cell[4], cell[8]);
                }
            }
            check(log.size() == next - 1, node + ": the last lines are not covered");
            Files.write(logs.resolve(node + ".log"), Files.readAllBytes(run.resolve(node + ".log")));
        }
        Files.write(expected.resolve("truth.tsv"), truth);
        Files.write(expected.resolve("requests.tsv"), rows(requests, types(run.resolve("requests"))));
    }

    private static Map<String, String> types(Path file) throws IOException {
        Map<String, String> types = new LinkedHashMap<>();
        for (String row : Files.readAllLines(file)) {
            types.put(row.split("\t")[0], row.split("\t")[1]);
        }
        return types;
    }

    private static List<String> rows(Map<String, Request> requests, Map<String, String> types) {
        check(requests.keySet().equals(new TreeSet<>(types.keySet())), "not every request has left records");
        List<String> rows = new ArrayList<>();
        List<String> units = new ArrayList<>(requests.keySet());
        units.sort(Comparator.comparing((String unit) -> requests.get(unit).start).thenComparing(unit -> unit));
        for (String unit : units) {
            Request request = requests.get(unit);
            check(request.firstMethod.endsWith("." + types.get(unit)), unit + " begins in " + request.firstMethod);
            rows.add(String.join("\t", types.get(unit), String.join(",", request.nodes), "" + request.events,
                    utc(request.start), utc(request.end), unit));
        }
        rows.add(0, REQUESTS_HEADER);
        return rows;
    }

    /** `2024-01-01 10:00:00,123456` of a run in UTC as `2024-01-01T10:00:00.123Z`. */
    private static String utc(String time) {
        return time.substring(0, MILLIS_LENGTH).replace(' ', 'T').replace(',', '.') + "Z";
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
