package liststore;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** The settings of an actor system that keeps its events in a keyspace of its own. */
final class Settings {
  private Settings() {}

  static Config of(String keyspace) {
    String from = ZonedDateTime.now(ZoneOffset.UTC).minusHours(1)
        .format(DateTimeFormatter.ofPattern("yyyyMMdd'T'HH:mm"));
    return ConfigFactory.parseString("""
        pekko.actor.allow-java-serialization = on
        pekko.actor.warn-about-java-serializer-usage = off
        pekko.loglevel = WARNING
        pekko.persistence.journal.plugin = "pekko.persistence.cassandra.journal"
        pekko.persistence.snapshot-store.plugin = "pekko.persistence.cassandra.snapshot"
        pekko.persistence.cassandra {
          journal { keyspace = %1$s, keyspace-autocreate = on, tables-autocreate = on }
          snapshot { keyspace = %1$s, keyspace-autocreate = on, tables-autocreate = on }
          # Small, so that one actor's events need several.
          journal.target-partition-size = 20
          # Hours without events are asked for, too.
          events-by-tag { first-time-bucket = "%2$s", eventual-consistency-delay = 500ms }
          query.refresh-interval = 200ms
          # Otherwise it says what it would do.
          cleanup.dry-run = off
        }
        # A busy machine has the time it takes.
        pekko.test { single-expect-default = 60s, timefactor = 10 }
        datastax-java-driver {
          basic.load-balancing-policy.local-datacenter = datacenter1
          advanced.reconnect-on-init = true
          basic.request.timeout = 30s
        }
        """.formatted(keyspace, from)).withFallback(ConfigFactory.load()).resolve();
  }
}
