package dev.sluice.exchange;

/** Is told of every exchange that ended, exactly once, on the exchange's event loop. */
@FunctionalInterface
public interface ExchangeListener {

  /** Must return quickly and not throw. */
  void ended(ExchangeSummary summary);
}
