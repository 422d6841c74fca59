package liststore;

import org.apache.pekko.persistence.japi.snapshot.JavaSnapshotStoreSpec;

/** What Pekko asks of every store of snapshots. */
public class SnapshotStoreSuite extends JavaSnapshotStoreSpec {
  public SnapshotStoreSuite() {
    super(Settings.of("snapshot_test"));
  }
}
