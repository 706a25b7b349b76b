package dev.sluice.upstream;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.handler.ssl.SslContext;
import io.netty.resolver.AddressResolverGroup;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/**
 * What connections to endpoints are made with.
 *
 * @param channels makes a channel that the event loops can drive
 * @param resolver turns names into addresses without blocking a loop
 * @param tls the client side of TLS for {@code https} endpoints, made at the first use; verifies
 *     certificate and host name
 */
public record UpstreamTransport(
    ChannelFactory<? extends Channel> channels,
    AddressResolverGroup<InetSocketAddress> resolver,
    Supplier<SslContext> tls) {}
