package dev.sluice.pipeline;

import dev.sluice.access.BearerToken;
import dev.sluice.access.Key;
import dev.sluice.access.KeyCache;
import dev.sluice.access.KeyHash;
import dev.sluice.access.Plan;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
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
@Sharable
final class BearerKey extends ChannelInboundHandlerAdapter {
  /*
   * No exchange of a revoked key may slip through between its check and the change of the keys. A
   * change comes in three steps, in this order: the directory knows the new keys, the cache moves to
   * its next generation, every connection gets a Recheck on its loop. A request is checked on that
   * loop, and passes in the same turn in which the cache's generation was seen to be the one that its
   * answer is of: from the cache at once, or because it has not moved since before the directory was
   * asked. Where it has, the directory is asked again. So either the check saw the new keys, or the
   * second step was still to come; then the third is, too, and finds the exchange with its key.
   *
   * An answer of the directory that arrives between the second and the third step is of no use by
   * the same rule, and so is one that arrives after the third, whenever it was asked for.
   */

  private static final Logger logger = LoggerFactory.getLogger(BearerKey.class);

  /**
   * A user event: the key of an exchange that is under way may be good no longer.
   *
   * @param exchange the exchange; its caller may not be known yet
   */
  record Recheck(Exchange exchange) {}

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
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (!(message instanceof Exchange exchange)) {
      ctx.fireChannelRead(message);
      return;
    }
    BearerToken.Parsed token = BearerToken.parse(exchange.head().headers());
    switch (token.kind()) {
      case MISSING -> exchange.refuse(MISSING);
      case MALFORMED -> exchange.refuse(MALFORMED);
      case PRESENT -> {
        exchange.presented(token.hash());
        check(ctx, exchange, token.hash());
      }
    }
  }

  private void check(ChannelHandlerContext ctx, Exchange exchange, KeyHash hash) {
    Key key = keys.getIfPresent(hash);
    if (key != null) {
      found(ctx, exchange, key);
    } else {
      int generation = keys.generation();
      ask(
          ctx,
          exchange,
          hash,
          answer -> answered(ctx, exchange, hash, answer, generation),
          failure -> unanswered(exchange, failure));
    }
  }

  /** Asks the directory, and goes on with its answer on the exchange's loop. */
  private void ask(
      ChannelHandlerContext ctx,
      Exchange exchange,
      KeyHash hash,
      Consumer<Optional<Key>> answered,
      Consumer<Throwable> unanswered) {
    keys.find(hash)
        .whenComplete(
            (key, failure) -> {
              Runnable then =
                  failure == null ? () -> answered.accept(key) : () -> unanswered.accept(failure);
              if (ctx.executor().inEventLoop()) {
                then.run();
              } else {
                ctx.executor().execute(() -> faultless(exchange, then));
              }
            });
  }

  /** A task of the loop has no handler behind it that would catch. */
  private static void faultless(Exchange exchange, Runnable answered) {
    try {
      answered.run();
    } catch (RuntimeException | Error e) {
      exchange.fault(e);
    }
  }

  private void answered(
      ChannelHandlerContext ctx,
      Exchange exchange,
      KeyHash hash,
      Optional<Key> key,
      int generation) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (keys.generation() != generation) {
      check(ctx, exchange, hash);
    } else if (key.isEmpty()) {
      exchange.refuse(UNKNOWN);
    } else {
      found(ctx, exchange, key.get());
    }
  }

  private static void unanswered(Exchange exchange, Throwable failure) {
    logger.warn(
        "directory of keys: no answer for exchange {}: {}",
        exchange.requestId(),
        failure.toString());
    exchange.refuse(DIRECTORY);
  }

  private void found(ChannelHandlerContext ctx, Exchange exchange, Key key) {
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
      ctx.fireChannelRead(exchange);
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

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof Recheck recheck) {
      recheck(ctx, recheck.exchange());
    } else {
      ctx.fireUserEventTriggered(event);
    }
  }

  private void recheck(ChannelHandlerContext ctx, Exchange exchange) {
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
        ctx,
        exchange,
        hash,
        answer -> {
          if (keys.generation() != generation) {
            recheck(ctx, exchange);
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
