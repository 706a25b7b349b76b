package dev.sluice.cli;

/** The entrance: everything is for JMH. */
public final class Measure {
  private Measure() {}

  public static void main(String[] args) throws Exception {
    Benchmarks.run(args);
  }
}
