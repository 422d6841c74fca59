package liststore;

import org.apache.pekko.persistence.CapabilityFlag;
import org.apache.pekko.persistence.japi.journal.JavaJournalSpec;

/** What Pekko asks of every journal. */
public class JournalSuite extends JavaJournalSpec {
  public JournalSuite() {
    super(Settings.of("journal_test"));
  }

  @Override
  public CapabilityFlag supportsRejectingNonSerializableObjects() {
    return CapabilityFlag.off();
  }
}
