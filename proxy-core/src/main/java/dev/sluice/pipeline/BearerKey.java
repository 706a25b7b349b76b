package dev.sluice.pipeline;

import dev.sluice.access.BearerToken;
import dev.sluice.access.Key;
import dev.sluice.access.KeyCache;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import io.netty.channel.EventLoop;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out who calls: 401 without a key that is current, 403 where its subscription is not active.
 * On every path, those that do not exist too. A remembered key is looked up on the loop; for any
 * other the directory is asked, and the exchange goes on, on its loop, when it has answered.
 *
 * <p>When keys have changed, and running exchanges of revoked ones are not to go on, it asks again
 * for each that is under way.
 */
final class BearerKey extends Step {
  /*
   * No exchange of a revoked key may slip through between its check and the change of the keys. A
   * change comes in three steps, in this order: the directory knows the new keys, the cache moves to
   * its next generation, every exchange is checked again on its loop. A request is checked on that
   * loop, and passes in the same turn in which the cache's generation was seen to be the one that its
   * answer is of: from the cache at once, or because it has not moved since before the directory was
   * asked. Where it has, the directory is asked again. So either the check saw the new keys, or the
   * second step was still to come; then the third is, too, and finds the exchange with its key.
   *
   * An answer of the directory that arrives between the second and the third step is of no use by
   * the same rule, and so is one that arrives after the third, whenever it was asked for.
   */

  private static final Logger logger = LoggerFactory.getLogger(BearerKey.class);

  private static final String SEND_ONE =
      " Send Authorization: Bearer and a current, non-revoked key.";

  private static final Failure MISSING =
      Failure.of(Reason.KEY_MISSING, "The request has no API key." + SEND_ONE);
  private static final Failure MALFORMED =
      Failure.of(
          Reason.KEY_MALFORMED, "The Authorization header is not one bearer key." + SEND_ONE);
  private static final Failure UNKNOWN =
      Failure.of(Reason.KEY_UNKNOWN, "The API key is invalid." + SEND_ONE);
  private static final Failure REVOKED =
      Failure.of(Reason.KEY_REVOKED, "The API key was revoked." + SEND_ONE);
  private static final Failure EXPIRED =
      Failure.of(Reason.KEY_EXPIRED, "The API key has expired." + SEND_ONE);
  private static final Failure DIRECTORY =
      Failure.of(
          Reason.KEY_DIRECTORY,
          "API keys cannot be checked for now. Wait the seconds in Retry-After, then send the"
              + " request again.");
  private static final Failure INACTIVE =
      Failure.of(
          Reason.SUBSCRIPTION_INACTIVE,
          "The subscription of this API key is not active. Check its billing status.");

  private final KeyCache keys;
  private final EdgeState state;
  private final InstantSource clock;

  BearerKey(KeyCache keys, EdgeState state, InstantSource clock) {
    this.keys = keys;
    this.state = state;
    this.clock = clock;
  }

  @Override
  void take(Exchange exchange) {
    BearerToken.Parsed token = BearerToken.parse(exchange.head().headers());
    switch (token.kind()) {
      case MISSING -> exchange.refuse(MISSING);
      case MALFORMED -> exchange.refuse(MALFORMED);
      case PRESENT -> {
        exchange.presented(token.hash());
        check(exchange, token.hash());
      }
    }
  }

  private void check(Exchange exchange, KeyHash hash) {
    Key key = keys.getIfPresent(hash);
    if (key != null) {
      found(exchange, key);
    } else {
      int generation = keys.generation();
      ask(
          exchange,
          hash,
          answer -> answered(exchange, hash, answer, generation),
          failure -> unanswered(exchange, failure));
    }
  }

  /** Asks the directory, and goes on with its answer on the exchange's loop. */
  private void ask(
      Exchange exchange,
      KeyHash hash,
      Consumer<Optional<Key>> answered,
      Consumer<Throwable> unanswered) {
    keys.find(hash)
        .whenComplete(
            (key, failure) -> {
              Runnable then =
                  failure == null ? () -> answered.accept(key) : () -> unanswered.accept(failure);
              EventLoop loop = exchange.downstream().context().loop();
              if (loop.inEventLoop()) {
                faultless(exchange, then);
              } else {
                loop.execute(() -> faultless(exchange, then));
              }
            });
  }

  /** Nobody behind a task of the loop, or a stage that completes, would catch. */
  private static void faultless(Exchange exchange, Runnable then) {
    try {
      then.run();
    } catch (RuntimeException | Error e) {
      exchange.fault(e);
    }
  }

  private void answered(Exchange exchange, KeyHash hash, Optional<Key> key, int generation) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (keys.generation() != generation) {
      check(exchange, hash);
    } else if (key.isEmpty()) {
      exchange.refuse(UNKNOWN);
    } else {
      found(exchange, key.get());
    }
  }

  private static void unanswered(Exchange exchange, Throwable failure) {
    logger.warn(
        "directory of keys: no answer for exchange {}: {}",
        exchange.requestId(),
        failure.toString());
    exchange.refuse(DIRECTORY);
  }

  private void found(Exchange exchange, Key key) {
    Plan plan = plan(exchange, key.subscription().plan());
    if (plan == null) {
      logger.error(
          "subscription {}: plan {} (expected: a configured plan)",
          key.subscription().name(),
          key.subscription().plan());
      exchange.refuse(DIRECTORY);
      return;
    }
    exchange.identify(key, plan);
    Failure refusal = refusal(key, key.isExpiredAt(clock.instant()));
    if (refusal != null) {
      exchange.refuse(refusal);
    } else {
      pass(exchange);
    }
  }

  private static @Nullable Failure refusal(Key key, boolean expired) {
    if (key.revoked()) {
      return REVOKED;
    }
    if (expired) {
      return EXPIRED;
    }
    return key.subscription().active() ? null : INACTIVE;
  }

  /** Keys have changed: that of an exchange under way may be good no longer. */
  void recheck(Exchange exchange) {
    KeyHash hash = exchange.keyHash();
    if (hash == null || exchange.hasEnded()) {
      return; // its key is not known yet, and will be asked for again
    }
    Key key = keys.getIfPresent(hash);
    if (key != null) {
      renewed(exchange, key);
      return;
    }
    int generation = keys.generation();
    ask(
        exchange,
        hash,
        answer -> {
          if (keys.generation() != generation) {
            recheck(exchange);
          } else if (answer.isEmpty()) {
            exchange.revoke(UNKNOWN);
          } else {
            renewed(exchange, answer.get());
          }
        },
        failure ->
            logger.warn(
                "directory of keys: no answer for exchange {}, which goes on: {}",
                exchange.requestId(),
                failure.toString()));
  }

  /**
   * A key that expires while its exchange runs does not end it; one that a change has given another
   * expiry, which is past, does.
   */
  private void renewed(Exchange exchange, Key key) {
    boolean expiredByChange =
        key.isExpiredAt(clock.instant())
            && !Objects.equals(key.expires(), exchange.key().expires());
    Failure refusal = refusal(key, expiredByChange);
    if (refusal != null) {
      exchange.revoke(refusal);
    } else {
      exchange.renew(key);
    }
  }

  /** A key may be of a version of the configuration that was taken since the exchange began. */
  private @Nullable Plan plan(Exchange exchange, String name) {
    Plan plan = exchange.snapshot().plans().get(name);
    return plan == null ? state.snapshot().plans().get(name) : plan;
  }
}
