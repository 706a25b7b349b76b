package dev.sluice.pipeline;

import dev.sluice.access.BearerToken;
import dev.sluice.access.Key;
import dev.sluice.access.KeyCache;
import dev.sluice.access.Plan;
import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Exchange;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out who calls: 401 without a key that is current, 403 where its subscription is not active.
 * On every path, those that do not exist too. A remembered key is looked up on the loop; for any
 * other the directory is asked, and the exchange goes on, on its loop, when it has answered.
 */
@Sharable
final class BearerKey extends ChannelInboundHandlerAdapter {
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
        Key key = keys.getIfPresent(token.hash());
        if (key != null) {
          found(ctx, exchange, key);
        } else {
          ask(ctx, exchange, token);
        }
      }
    }
  }

  private void ask(ChannelHandlerContext ctx, Exchange exchange, BearerToken.Parsed token) {
    keys.find(token.hash())
        .whenComplete(
            (key, failure) -> {
              Runnable answered =
                  failure == null
                      ? () -> answered(ctx, exchange, key)
                      : () -> unanswered(exchange, failure);
              if (ctx.executor().inEventLoop()) {
                answered.run();
              } else {
                ctx.executor().execute(() -> faultless(exchange, answered));
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

  private void answered(ChannelHandlerContext ctx, Exchange exchange, Optional<Key> key) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (key.isEmpty()) {
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
    if (key.revoked()) {
      exchange.refuse(REVOKED);
    } else if (key.expires() != null && !clock.instant().isBefore(key.expires())) {
      exchange.refuse(EXPIRED);
    } else if (!key.subscription().active()) {
      exchange.refuse(INACTIVE);
    } else {
      ctx.fireChannelRead(exchange);
    }
  }

  /** A key may be of a version of the configuration that was taken since the exchange began. */
  private @Nullable Plan plan(Exchange exchange, String name) {
    Plan plan = exchange.snapshot().plans().get(name);
    return plan == null ? state.snapshot().plans().get(name) : plan;
  }
}
