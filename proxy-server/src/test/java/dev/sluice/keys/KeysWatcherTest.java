package dev.sluice.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sluice.keys.KeysWatcher.Result;
import dev.sluice.yaml.Fault;
import dev.sluice.yaml.WatchedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** How a change of the keys file is noticed, taken or refused. */
final class KeysWatcherTest {
  private static final Instant OLD = Instant.parse("2026-01-01T00:00:00Z");
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(KeysWatcher.class);

  @TempDir private Path directory;
  private final List<Result> results = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private Instant now = OLD.plusSeconds(3600);
  private Path file = Path.of("");
  private FileKeyDirectory keys = new FileKeyDirectory(KeysText.good(KeysText.WHOLE));
  private KeysWatcher watcher = watch();

  @BeforeEach
  void watchAGoodFile() throws IOException {
    log.start();
    LOGGER.addAppender(log);
    LOGGER.setAdditive(false);
    file = directory.resolve("keys.yaml");
    write(KeysText.WHOLE, OLD);
    keys = new FileKeyDirectory(KeysText.good(KeysText.WHOLE));
    watcher = watch();
    polls(2);
    assertThat(results).isEmpty();
  }

  @AfterEach
  void endTheLog() {
    LOGGER.detachAppender(log);
    LOGGER.setAdditive(true);
  }

  @Test
  void aFileThatDoesNotChangeIsLeftAlone() {
    KeysSnapshot before = keys.snapshot();
    polls(10);
    assertThat(keys.snapshot()).isSameAs(before);
    assertThat(results).isEmpty();
    assertThat(log.list).isEmpty();
  }

  @Test
  void aRevocationTakesEffectAtTheSecondPoll() throws IOException {
    write(revoked(), OLD.plusSeconds(1));
    polls(1);
    assertThat(isRevoked()).isFalse();
    polls(1);
    assertThat(isRevoked()).isTrue();
    assertThat(results).containsExactly(Result.OK);
    polls(5);
    assertThat(results).containsExactly(Result.OK);
  }

  @Test
  void twoPollsAreWithinTwoSeconds() {
    assertThat(2 * WatchedFile.POLL_MILLIS).isLessThanOrEqualTo(1_000);
  }

  @Test
  void aFileRenamedIntoPlaceIsTaken() throws IOException {
    Path next = Files.writeString(directory.resolve("next"), revoked());
    Files.setLastModifiedTime(next, FileTime.from(OLD));
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    polls(2);
    assertThat(isRevoked()).isTrue();
  }

  @Test
  void aLinkThatIsSwappedIsFollowed() throws IOException {
    Path one = Files.createDirectory(directory.resolve("..one"));
    Path two = Files.createDirectory(directory.resolve("..two"));
    for (Path version : List.of(one, two)) {
      Path in = version.resolve("keys.yaml");
      Files.writeString(in, version.equals(one) ? KeysText.WHOLE : revoked());
      Files.setLastModifiedTime(in, FileTime.from(OLD));
    }
    Path data = Files.createSymbolicLink(directory.resolve("..data"), one);
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("..data", "keys.yaml"));
    polls(4);
    assertThat(isRevoked()).isFalse();
    Path next = Files.createSymbolicLink(directory.resolve("..next"), two);
    Files.move(next, data, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    polls(2);
    assertThat(isRevoked()).isTrue();
    assertThat(results).containsExactly(Result.OK);
  }

  @Test
  void aChangeOfTheSameSizeInTheSameTickIsSeenWhileTheFileIsYoung() throws IOException {
    String one = KeysText.WHOLE.replace("revoked: false", "revoked:  true");
    assertThat(one).hasSameSizeAs(KeysText.WHOLE);
    now = OLD.plusMillis(10);
    write(one, OLD);
    polls(2);
    assertThat(isRevoked()).isTrue();
    write(KeysText.WHOLE, OLD);
    polls(1);
    assertThat(isRevoked()).isFalse();
    assertThat(results).containsExactly(Result.OK, Result.OK);
  }

  @Test
  void aTouchedFileIsNoNewVersion() throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(OLD.plusSeconds(9)));
    polls(4);
    assertThat(results).isEmpty();
    assertThat(log.list).isEmpty();
  }

  @Test
  void aBrokenVersionIsRefusedOnceAndTheKeysStay() throws IOException {
    KeysSnapshot before = keys.snapshot();
    write(
        KeysText.WHOLE.replace("plan: pro", "plan: por").replace("2027-01-31", "never"),
        OLD.plusSeconds(1));
    polls(10);
    assertThat(keys.snapshot()).isSameAs(before);
    assertThat(results).containsExactly(Result.REFUSED);
    assertThat(logged())
        .satisfiesExactly(
            line -> assertThat(line).contains("refused, the 2 keys known before stay; faults: 2"),
            line -> assertThat(line).startsWith(file + ":2: subscriptions.acme.plan: por "),
            line -> assertThat(line).startsWith(file + ":9: keys[1].expires: never "));
  }

  @Test
  void aVersionWithCountlessFaultsIsLoggedWithTheFirstOfThem() throws IOException {
    write(KeysText.WHOLE + "  - {}\n".repeat(1_000), OLD.plusSeconds(1));
    polls(2);
    assertThat(logged()).hasSize(1 + Fault.MAX_TOLD).first().asString().contains("faults: 3000");
  }

  @Test
  void aHalfWrittenFileIsPickedUpWhenItIsComplete() throws IOException {
    String next = revoked();
    write(next.substring(0, next.length() / 2), OLD.plusSeconds(1));
    polls(3);
    assertThat(results).containsExactly(Result.REFUSED);
    assertThat(isRevoked()).isFalse();
    write(next, OLD.plusSeconds(2));
    polls(2);
    assertThat(results).containsExactly(Result.REFUSED, Result.OK);
    assertThat(isRevoked()).isTrue();
  }

  @Test
  void aWriterThatFinishesByTheNextPollIsNotRefused() throws IOException {
    String next = revoked();
    write(next.substring(0, next.length() / 2), OLD.plusSeconds(1));
    polls(1);
    write(next, OLD.plusSeconds(2));
    polls(1);
    assertThat(results).containsExactly(Result.OK);
    assertThat(isRevoked()).isTrue();
  }

  @Test
  void aFileThatIsWrittenAllTheTimeIsReadAllTheSame() throws IOException {
    for (int i = 1; i <= 10; i++) {
      write(revoked() + "# " + i + "\n", OLD.plusSeconds(i));
      polls(1);
    }
    assertThat(isRevoked()).isTrue();
    assertThat(results).hasSize(5).containsOnly(Result.OK);
  }

  @Test
  void aDeletedFileIsRefusedOnceAndTheKeysStay() throws IOException {
    KeysSnapshot before = keys.snapshot();
    Files.delete(file);
    polls(10);
    assertThat(keys.snapshot()).isSameAs(before);
    assertThat(results).containsExactly(Result.REFUSED);
    assertThat(logged()).hasSize(2).last().asString().contains("no such file");
  }

  @Test
  void aFileThatComesBackAsItWasIsSaidToBeFine() throws IOException {
    Files.delete(file);
    polls(4);
    write(KeysText.WHOLE, OLD.plusSeconds(5));
    polls(4);
    assertThat(results).containsExactly(Result.REFUSED);
    assertThat(logged()).last().asString().contains("is again the version whose keys are known");
    Files.delete(file);
    polls(4);
    assertThat(results).containsExactly(Result.REFUSED, Result.REFUSED);
  }

  @Test
  void aFileThatComesBackChangedIsTaken() throws IOException {
    Files.delete(file);
    polls(4);
    write(revoked(), OLD.plusSeconds(5));
    polls(2);
    assertThat(results).containsExactly(Result.REFUSED, Result.OK);
    assertThat(isRevoked()).isTrue();
  }

  @Test
  void aDirectoryInItsPlaceIsRefusedOnce() throws IOException {
    Files.delete(file);
    Files.createDirectory(file);
    polls(6);
    assertThat(results).containsExactly(Result.REFUSED);
  }

  @Test
  void aReadNowNeedsNoPolls() throws IOException {
    write(revoked(), OLD.plusSeconds(1));
    watcher.read();
    assertThat(isRevoked()).isTrue();
    watcher.read();
    polls(3);
    assertThat(results).containsExactly(Result.OK);
  }

  @Test
  void keysThatWereTakenWithAConfigurationAreCheckedAgainstItsPlans() throws IOException {
    String other = KeysText.WHOLE.replace("plan: pro", "plan: team");
    write(other, OLD.plusSeconds(1));
    polls(2);
    assertThat(results).containsExactly(Result.REFUSED);
    Set<String> plans = Set.of("team", "free");
    watcher.follow(file, plans, KeysText.good(other, plans));
    assertThat(results).containsExactly(Result.REFUSED, Result.OK);
    polls(4);
    write(other + "# more\n", OLD.plusSeconds(2));
    polls(2);
    assertThat(results).containsExactly(Result.REFUSED, Result.OK, Result.OK);
    write(KeysText.WHOLE, OLD.plusSeconds(3));
    polls(2);
    assertThat(results).hasSize(4).last().isEqualTo(Result.REFUSED);
  }

  @Test
  void anotherFileIsWatchedInstead() throws IOException {
    Path other = Files.writeString(directory.resolve("other.yaml"), KeysText.WHOLE);
    Files.setLastModifiedTime(other, FileTime.from(OLD));
    watcher.follow(other, KeysText.PLANS, KeysText.good(KeysText.WHOLE));
    write(revoked(), OLD.plusSeconds(1));
    polls(4);
    assertThat(results).isEmpty();
    file = other;
    write(revoked(), OLD.plusSeconds(1));
    polls(2);
    assertThat(results).containsExactly(Result.OK);
    assertThat(isRevoked()).isTrue();
  }

  private KeysWatcher watch() {
    InstantSource clock = () -> now;
    return new KeysWatcher(
        file, KeysText.PLANS, keys, clock, reload -> results.add(reload.result()));
  }

  private void polls(int times) {
    for (int i = 0; i < times; i++) {
      watcher.poll();
    }
  }

  private void write(String text, Instant modified) throws IOException {
    Files.write(file, text.getBytes(UTF_8));
    Files.setLastModifiedTime(file, FileTime.from(modified));
  }

  private static String revoked() {
    return KeysText.WHOLE.replace("revoked: false", "revoked: true");
  }

  private boolean isRevoked() {
    return keys.find(KeysText.TWO).toCompletableFuture().join().orElseThrow().revoked();
  }

  private List<String> logged() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }
}
