package dev.sluice.testing;

import dev.sluice.upstream.UpstreamTransport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultNameResolver;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Upstream connections without sockets: the test is the upstream, and the loop is the test's. */
public final class FakeUpstreams {
  /** The loop of an embedded channel never ends, so what is made for it is not kept. */
  private static final AddressResolverGroup<InetSocketAddress> RESOLVER =
      new AddressResolverGroup<>() {
        @Override
        public AddressResolver<InetSocketAddress> getResolver(EventExecutor executor) {
          return newResolver(executor);
        }

        @Override
        protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
          return new DefaultNameResolver(executor).asAddressResolver();
        }
      };

  private final List<Upstream> opened = new ArrayList<>();

  /** What makes them. */
  public UpstreamTransport transport() {
    return new UpstreamTransport(
        () -> {
          Upstream upstream = new Upstream();
          opened.add(upstream);
          return upstream;
        },
        RESOLVER,
        () -> {
          throw new AssertionError("no TLS here");
        });
  }

  /** How many connections were opened. */
  public int opened() {
    return opened.size();
  }

  /** A connection, by the order in which they were opened; the first is 0. */
  public Upstream get(int index) {
    return opened.get(index);
  }

  /** The connection that was opened last. */
  public Upstream last() {
    return opened.get(opened.size() - 1);
  }

  /** Closes all, and lets go of what they hold. */
  public void close() {
    opened.forEach(EmbeddedChannel::finishAndReleaseAll);
  }

  /** One connection, as the upstream sees it. */
  public static final class Upstream extends EmbeddedChannel {
    private @Nullable ChannelConfig config;

    Upstream() {
      super(DefaultChannelId.newInstance(), false, false);
    }

    @Override
    public ChannelConfig config() {
      if (config == null) {
        config =
            new DefaultChannelConfig(this) {
              @Override
              public <T> boolean setOption(ChannelOption<T> option, T value) {
                return option.equals(ChannelOption.TCP_NODELAY)
                    || option.equals(ChannelOption.SO_KEEPALIVE)
                    || super.setOption(option, value);
              }
            };
      }
      return config;
    }

    /** Answers with these bytes, in one read; not at all where there are none. */
    public void answer(String bytes) {
      if (isActive() && !bytes.isEmpty()) {
        writeInbound(Bytes.of(bytes));
      }
    }

    /** Everything that was written to it since the last time. */
    public String received() {
      StringBuilder received = new StringBuilder();
      ByteBuf bytes;
      while ((bytes = readOutbound()) != null) {
        received.append(Bytes.text(bytes));
      }
      return received.toString();
    }

    /** Breaks the connection, as a reset does. */
    public void reset() {
      pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
      close();
    }
  }
}
