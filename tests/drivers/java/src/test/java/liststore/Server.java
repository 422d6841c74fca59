package liststore;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A liststore server for each test that asks for one. LISTSTORE_BINARY names the program; each listens on
 * loopback, on a free port, and ends with its standard input.
 */
final class Server implements AutoCloseable {
  static final String KEYSPACE =
      "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

  private final Process process;
  final int port;

  Server(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(System.getenv("LISTSTORE_BINARY"), "serve", "--cql-port", "0", "--until-eof"));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    // One line, once it listens: nothing is waited for by the clock.
    String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    Matcher matcher = Pattern.compile("\"cql_port\":([0-9]+)").matcher(String.valueOf(line));
    if (!matcher.find()) throw new IOException("the server does not say where it listens: " + line);
    port = Integer.parseInt(matcher.group(1));
  }

  InetSocketAddress address() {
    return new InetSocketAddress("127.0.0.1", port);
  }

  /** Nothing is set but host, port and the data centre, which this driver asks for. */
  CqlSessionBuilder builder() {
    return CqlSession.builder().addContactPoint(address()).withLocalDatacenter("datacenter1");
  }

  CqlSession connect() {
    return builder().build();
  }

  /** A session in the keyspace feat, which it makes. */
  CqlSession connectWithKeyspace() {
    CqlSession session = connect();
    session.execute(KEYSPACE);
    session.execute("USE feat");
    return session;
  }

  /** Ends it; its status. */
  int stop() throws IOException, InterruptedException {
    process.getOutputStream().close();
    return process.waitFor();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    stop();
  }

  static <T> List<T> rows(ResultSet result, Function<Row, T> read) {
    List<T> found = new ArrayList<>();
    for (Row row : result) found.add(read.apply(row));
    return found;
  }
}
