package dev.sluice.exchange;

import dev.sluice.timer.LoopTimer;
import dev.sluice.upstream.ConnectionPool;
import io.netty.channel.EventLoop;
import java.util.concurrent.Executor;

/**
 * What all exchanges of one event loop share.
 *
 * @param loop the event loop
 * @param timer the loop's deadlines
 * @param pool the loop's upstream connections
 * @param budget the memory that bodies and relays hold, shared by all loops
 * @param inspectors runs what takes too long for a loop, shared by all loops
 * @param listener is told of every exchange that ended
 */
public record LoopContext(
    EventLoop loop,
    LoopTimer timer,
    ConnectionPool pool,
    MemoryBudget budget,
    Executor inspectors,
    ExchangeListener listener) {}
