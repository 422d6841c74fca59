package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Over TLS, with verification on and a login. LISTSTORE_CERTIFICATES: the folder that make_certificates has
 * filled.
 */
class TlsTest {
  private static Path folder() {
    String folder = System.getenv("LISTSTORE_CERTIFICATES");
    assumeTrue(folder != null, "there is no openssl here");
    return Path.of(folder);
  }

  private static Server serve(String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--tls-certificate", folder().resolve("node.crt").toString(),
                "--tls-key", folder().resolve("node.key").toString(),
                "--tls-only", "--auth", "cassandra:secret"));
    arguments.addAll(List.of(more));
    return new Server(arguments.toArray(new String[0]));
  }

  /** Trusts the CA of the folder and nobody else. */
  private static SSLContext trusting() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream file = Files.newInputStream(folder().resolve("ca.crt"))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static CqlSession connect(Server server, SSLContext context) {
    return server
        .builder()
        .withAuthCredentials("cassandra", "secret")
        .withSslEngineFactory(new ProgrammaticSslEngineFactory(context, null, true))
        .build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--shards 1", "--shards 2", "--tls-min-version 1.3"})
  void verifiedAndLoggedIn(String arguments) throws Exception {
    try (Server server = serve(arguments.split(" "));
        CqlSession session = connect(server, trusting())) {
      session.execute(Server.KEYSPACE);
      session.execute("CREATE TABLE feat.t (p int, c int, v text, PRIMARY KEY (p, c))");
      PreparedStatement insert = session.prepare("INSERT INTO feat.t (p, c, v) VALUES (?, ?, ?)");
      String value = "v".repeat(100_000);
      for (int c = 0; c < 20; ++c) session.execute(insert.bind(1, c, value));
      int next = 0;
      for (Row row :
          session.execute(
              SimpleStatement.newInstance("SELECT c, v FROM feat.t WHERE p = 1").setPageSize(7))) {
        assertEquals(next++, row.getInt(0));
        assertEquals(value, row.getString(1));
      }
      assertEquals(20, next);
      List<String> clients =
          Server.rows(
              session.execute("SELECT ssl_enabled, ssl_protocol FROM system.clients"),
              row -> row.getBoolean(0) + " " + row.getString(1));
      assertFalse(clients.isEmpty());
      for (String client : clients) assertEquals("true TLSv1.3", client);
    }
  }

  @Test
  void aServerThatIsNotBelieved() throws Exception {
    try (Server server = serve()) {
      AllNodesFailedException error =
          assertThrows(
              AllNodesFailedException.class, () -> connect(server, SSLContext.getDefault()));
      StringBuilder said = new StringBuilder();
      for (List<Throwable> errors : error.getAllErrors().values()) {
        for (Throwable cause = errors.get(0); cause != null; cause = cause.getCause()) {
          said.append(cause).append('\n');
        }
      }
      assertTrue(said.toString().contains("certification path"), said.toString());
    }
  }
}
