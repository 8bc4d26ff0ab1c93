import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.io.StringWriter;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.postgresql.PGConnection;

/** pgjdbc: what it tells of a database, portions of rows, COPY, savepoints. `java -cp pgjdbc.jar Client.java PORT`. */
public class Client {
    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    private static Set<String> column(ResultSet rows, String name) throws SQLException {
        Set<String> found = new TreeSet<>();
        while (rows.next()) found.add(rows.getString(name));
        return found;
    }

    private static int count(ResultSet rows) throws SQLException {
        int n = 0;
        while (rows.next()) n++;
        return n;
    }

    private static void metadata(Connection connection) throws SQLException {
        DatabaseMetaData of = connection.getMetaData();
        check(of.getDatabaseProductName().equals("PostgreSQL"), of.getDatabaseProductName());
        check(column(of.getSchemas(), "TABLE_SCHEM").contains("public"), "schemas");
        check(column(of.getCatalogs(), "TABLE_CAT").contains("lprof"), "catalogs");
        check(column(of.getTableTypes(), "TABLE_TYPE").contains("TABLE"), "kinds of tables");
        Set<String> tables = column(of.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME");
        check(tables.size() == 12 && tables.contains("requests"), tables.toString());
        check(column(of.getTables(null, null, "requests", null), "TABLE_SCHEM").equals(Set.of("public")), "one table");
        ResultSet columns = of.getColumns(null, "public", "requests", "%");
        int n = 0;
        while (columns.next()) {
            n++;
            check(columns.getInt("ORDINAL_POSITION") == n, "in order");
            String name = columns.getString("COLUMN_NAME"), type = columns.getString("TYPE_NAME");
            if (name.equals("duration_us")) check(type.equals("int8") && columns.getInt("NULLABLE") == 0, type);
            if (name.equals("start_ts")) check(type.equals("timestamptz"), type);
            if (name.equals("flags")) check(type.equals("_text"), type);
        }
        check(n == 14, "columns: " + n);
        check(count(of.getPrimaryKeys(null, "public", "requests")) == 0, "primary keys");
        check(count(of.getIndexInfo(null, "public", "requests", false, true)) == 0, "indexes");
        check(count(of.getImportedKeys(null, "public", "requests")) == 0, "imported keys");
        check(count(of.getExportedKeys(null, "public", "requests")) == 0, "exported keys");
        check(count(of.getCrossReference(null, "public", "requests", null, "public", "spans")) == 0, "references");
        check(count(of.getBestRowIdentifier(null, "public", "requests", 0, true)) == 0, "row identifiers");
        check(count(of.getVersionColumns(null, "public", "requests")) >= 0, "version columns");
        check(column(of.getTypeInfo(), "TYPE_NAME").contains("int8"), "types");
        check(count(of.getTablePrivileges(null, "public", "requests")) >= 0, "privileges");
        check(count(of.getColumnPrivileges(null, "public", "requests", "%")) >= 0, "privileges of columns");
        check(count(of.getFunctions(null, "public", "%")) >= 0, "functions");
        check(count(of.getProcedures(null, "public", "%")) == 0, "procedures");
        check(count(of.getFunctionColumns(null, "public", "%", "%")) >= 0, "arguments of functions");
        check(count(of.getUDTs(null, "public", "%", null)) >= 0, "types of users");
        check(count(of.getClientInfoProperties()) >= 1, "client info");
        check(of.getSQLKeywords().length() > 10, "keywords");
        check(of.getMaxColumnNameLength() == 63, "length of names");
        of.getNumericFunctions();
    }

    private static void rows(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT request_id, duration_us, start_ts, flags FROM requests WHERE duration_us >= ? AND request_type = ?")) {
            statement.setFetchSize(10);
            statement.setLong(1, 0);
            statement.setString(2, "ClientHandler.writeBlock");
            // The sixth time it is prepared by its name, and values come as bytes.
            for (int round = 0; round < 8; round++) {
                ResultSet rows = statement.executeQuery();
                int n = 0;
                while (rows.next()) {
                    n++;
                    rows.getLong(2);
                    check(rows.getTimestamp(3) != null, "a time");
                    check(rows.getArray(4).getArray() != null, "a list");
                }
                check(n == 48, "rows: " + n);
                check(rows.getMetaData().getColumnTypeName(2).equals("int8"), "type of a column");
                check(rows.getMetaData().isNullable(2) >= 0, "of which table a column is");
            }
        }
        Savepoint savepoint = connection.setSavepoint("a");
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT nothing FROM requests");
            throw new AssertionError("no such column");
        } catch (SQLException error) {
            check(error.getSQLState().equals("42703"), error.getSQLState());
        }
        connection.rollback(savepoint);
        try (Statement statement = connection.createStatement()) {
            check(count(statement.executeQuery("SELECT 1")) == 1, "after a savepoint");
            check(count(statement.executeQuery("EXPLAIN SELECT count(*) FROM requests")) > 0, "a plan");
        }
        connection.commit();
        connection.setReadOnly(true);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        check(connection.isValid(5), "alive");
        StringWriter copied = new StringWriter();
        connection.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (SELECT request_id FROM requests) TO STDOUT", copied);
        check(copied.toString().lines().count() == 149, "copied");
        connection.rollback();
        check(connection.getSchema().equals("public") && connection.getCatalog().equals("lprof"), "where it is");
        connection.setSchema("public");
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("user", "somebody");
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/lprof";
        try (Connection connection = DriverManager.getConnection(url, properties)) {
            metadata(connection);
            rows(connection);
        }
        properties.setProperty("preferQueryMode", "simple");
        try (Connection connection = DriverManager.getConnection(url, properties)) {
            metadata(connection);
        }
    }
}
