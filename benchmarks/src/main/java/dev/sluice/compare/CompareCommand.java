package dev.sluice.compare;

import dev.sluice.load.Sockets;
import dev.sluice.load.StampedUpstream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Compares, prints the tables, and writes tables, samples and charts. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = "Measures Sluice beside nginx and HAProxy, over loopback.")
public final class CompareCommand implements Callable<Integer> {
  private static final Path SHIPPED_OPTIONS = Path.of("deploy", "jvm.options");

  @Spec private CommandSpec spec;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description =
          "What to measure: relay, requests, first-byte, image, memory (these by default),"
              + " streams, event-size, body-size, keys, plans, loops, or all.")
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--proxies",
      split = ",",
      paramLabel = "NAME",
      description = "Default: ${DEFAULT-VALUE}.")
  private List<String> proxies = Launcher.PROXIES;

  @Option(names = "--rounds", description = "Default: ${DEFAULT-VALUE}.")
  private int rounds = 3;

  @Option(
      names = "--seconds",
      description = "How long each load is measured. Default: ${DEFAULT-VALUE}.")
  private int seconds = 5;

  @Option(
      names = "--warm-up",
      description =
          "Seconds of load on Sluice's JVM before the first round. Default: ${DEFAULT-VALUE}.")
  private int warmUp = 10;

  @Option(names = "--jar", description = "Default: ${DEFAULT-VALUE}.")
  private Path jar = Path.of("proxy-server", "target", "sluice.jar");

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description = "For Sluice's JVM, behind deploy/jvm.options where that exists. Repeatable.")
  private List<String> javaOptions = new ArrayList<>();

  @Option(names = "--out", description = "Directory of the results. Default: ${DEFAULT-VALUE}.")
  private Path out = Path.of("benchmarks", "target", "compare");

  /** The command, which says what went wrong in a line where it can. */
  public static CommandLine commandLine() {
    return new CommandLine(new CompareCommand())
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              boolean expected = failure instanceof IOException;
              command
                  .getErr()
                  .println("compare: " + (expected ? failure.getMessage() : failure.toString()));
              return CommandLine.ExitCode.SOFTWARE;
            });
  }

  @Override
  public Integer call() throws Exception {
    List<Measurement> measurements = chosen();
    if (!Launcher.PROXIES.containsAll(proxies)) {
      throw new ParameterException(
          spec.commandLine(), "--proxies: " + proxies + " (expected: of " + Launcher.PROXIES + ")");
    }
    for (String proxy : proxies) {
      if (!proxy.equals(Launcher.SLUICE)) {
        Launcher.find(proxy); // before anything is measured
      }
    }
    Files.createDirectories(out);
    // nginx gives up root, and must be able to read what is in there.
    Path scratch =
        Files.createTempDirectory(
            "compare",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    PrintWriter console = spec.commandLine().getOut();
    try (Sockets sockets = Sockets.open()) {
      StampedUpstream upstream = new StampedUpstream(sockets.answering());
      Comparison comparison =
          new Comparison(
              sockets,
              upstream,
              new Launcher(scratch, listen(sockets, upstream), jar, options()),
              proxies,
              rounds,
              seconds * 1_000,
              warmUp * 1_000,
              line -> {
                console.println(line);
                console.flush();
              });
      for (Measurement measurement : measurements) {
        comparison.measure(measurement);
        write(measurements, comparison); // what was measured is kept, whatever comes next
      }
      upstream.close();
      console.println();
      console.print(Files.readString(out.resolve("tables.txt")));
      console.println("Written to " + out + ".");
      console.flush();
    }
    return 0;
  }

  private List<Measurement> chosen() {
    Stream<Measurement> all =
        Stream.concat(Measurement.USUAL.stream(), Measurement.SCALING.stream());
    if (only.equals(List.of("all"))) {
      return all.toList();
    }
    List<Measurement> chosen =
        all.filter(
                measurement ->
                    only.isEmpty()
                        ? Measurement.USUAL.contains(measurement)
                        : only.contains(measurement.name()))
            .toList();
    if (chosen.size() < only.size()) {
      throw new ParameterException(
          spec.commandLine(), "--only: " + only + " (expected: names of measurements, each once)");
    }
    return chosen;
  }

  private List<String> options() {
    List<String> options = new ArrayList<>();
    if (Files.exists(SHIPPED_OPTIONS)) {
      options.add("@" + SHIPPED_OPTIONS);
    }
    options.addAll(javaOptions);
    return options;
  }

  private static int listen(Sockets sockets, StampedUpstream upstream) throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    var binding = upstream.bind(sockets.listening(), any);
    binding.get(10, TimeUnit.SECONDS);
    return ((InetSocketAddress) binding.channel().localAddress()).getPort();
  }

  private void write(List<Measurement> measurements, Comparison comparison) throws IOException {
    List<Sample> samples = comparison.samples();
    StringBuilder tables = new StringBuilder();
    for (Measurement measurement : measurements) {
      if (samples.stream().anyMatch(s -> s.measurement().equals(measurement.name()))) {
        tables.append(Table.text(measurement, samples)).append('\n');
      }
    }
    Files.writeString(out.resolve("tables.txt"), tables);
    Files.writeString(out.resolve("samples.csv"), Table.csv(samples));
    Map<String, String> charts = Charts.of(measurements, samples, comparison.latencies());
    for (Map.Entry<String, String> chart : charts.entrySet()) {
      Files.writeString(out.resolve(chart.getKey()), chart.getValue());
    }
  }
}
