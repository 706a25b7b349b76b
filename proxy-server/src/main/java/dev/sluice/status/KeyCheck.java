package dev.sluice.status;

import dev.sluice.access.BearerToken;
import dev.sluice.access.Key;
import dev.sluice.access.Plan;
import dev.sluice.page.Reply;
import dev.sluice.status.StatusSource.ModelStatus;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.SocketAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a caller what is known of the key in its {@code Authorization} header. That a key is not
 * valid is an answer, not a failure. On the listener's loop.
 */
final class KeyCheck {
  private static final Logger LOG = LoggerFactory.getLogger(KeyCheck.class);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final StatusSource source;
  private final KeyAttempts attempts;
  private final InstantSource clock;
  private final Executor loop;
  private final Consumer<Result> counted;

  /** How one check ended. */
  enum Result {
    VALID,
    INVALID,
    SLOWED,
    FAILED
  }

  /**
   * A check of keys.
   *
   * @param clock what expiry of keys is measured by
   * @param loop where attempts are counted
   * @param counted is told of each
   */
  KeyCheck(
      StatusSource source,
      KeyAttempts attempts,
      InstantSource clock,
      Executor loop,
      Consumer<Result> counted) {
    this.source = source;
    this.attempts = attempts;
    this.clock = clock;
    this.loop = loop;
    this.counted = counted;
  }

  CompletionStage<Reply> reply(HttpHeaders headers, SocketAddress peer) {
    BearerToken.Parsed token = BearerToken.parse(headers);
    if (token.kind() == BearerToken.Kind.MISSING) {
      return now(Reply.refused(400, "Authorization: nothing (expected: Bearer and a key)"));
    }
    long waitNanos = attempts.tryBegin(peer);
    if (waitNanos > 0) {
      counted.accept(Result.SLOWED);
      long seconds = (waitNanos + SECOND_NANOS - 1) / SECOND_NANOS;
      return now(
          Reply.refused(429, "too many wrong keys (expected: again in " + seconds + " s)")
              .with("retry-after", Long.toString(seconds)));
    }
    if (token.kind() == BearerToken.Kind.MALFORMED) {
      return now(invalid("malformed"));
    }
    return source
        .key(token.hash())
        .handleAsync(
            (key, failure) -> failure == null ? found(key, peer) : failed(failure, peer), loop);
  }

  private static CompletionStage<Reply> now(Reply reply) {
    return CompletableFuture.completedFuture(reply);
  }

  private Reply failed(Throwable failure, SocketAddress peer) {
    LOG.warn("directory of keys: no answer for the status page: {}", failure.toString());
    return failed(peer);
  }

  private Reply failed(SocketAddress peer) {
    attempts.right(peer);
    counted.accept(Result.FAILED);
    return Reply.refused(503, "keys cannot be checked for now (expected: again in 5 s)")
        .with("retry-after", "5");
  }

  private Reply found(Optional<Key> found, SocketAddress peer) {
    if (found.isEmpty()) {
      return invalid("unknown");
    }
    Key key = found.get();
    if (key.revoked()) {
      return invalid("revoked");
    }
    if (key.isExpiredAt(clock.instant())) {
      return invalid("expired");
    }
    Plan plan = source.plan(key.subscription().plan());
    return plan == null ? failed(peer) : valid(key, plan, peer);
  }

  private Reply invalid(String reason) {
    counted.accept(Result.INVALID);
    return Reply.ok(
        json -> {
          json.writeBooleanField("valid", false);
          json.writeStringField("reason", reason);
        });
  }

  private Reply valid(Key key, Plan plan, SocketAddress peer) {
    attempts.right(peer);
    counted.accept(Result.VALID);
    List<String> models =
        source.models().stream().map(ModelStatus::id).filter(plan::includes).toList();
    return Reply.ok(
        json -> {
          json.writeBooleanField("valid", true);
          json.writeBooleanField("subscription_active", key.subscription().active());
          json.writeStringField("plan", plan.name());
          json.writeArrayFieldStart("models");
          for (String model : models) {
            json.writeString(model);
          }
          json.writeEndArray();
          json.writeNumberField("slots_in_use", source.slotsInUse(plan.name()));
          json.writeNumberField("slots", plan.streams());
          json.writeNumberField("slots_in_use_by_key", source.slotsInUseByKey(key.name()));
          Integer ofKey = perKey(plan);
          if (ofKey == null) {
            json.writeNullField("slots_per_key");
          } else {
            json.writeNumberField("slots_per_key", ofKey);
          }
        });
  }

  private static @Nullable Integer perKey(Plan plan) {
    return plan.streamsPerKey() == Plan.UNBOUNDED ? null : plan.streamsPerKey();
  }
}
