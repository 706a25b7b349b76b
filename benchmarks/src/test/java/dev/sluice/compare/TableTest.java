package dev.sluice.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.load.Load;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final Measurement MEASUREMENT =
      new Measurement(
          "relay",
          "streams",
          Measurement.Counted.EVENT,
          "streams",
          false,
          List.of(new Measurement.Step(500, Load.requests(1, 1), Setting.USUAL)));

  @Test
  void showsMediansTheirSpreadAndTheRatioToTheBetterOfTheOthers() {
    List<Sample> samples = new ArrayList<>();
    samples.addAll(rounds("sluice", 12, 10.5, 11));
    samples.addAll(rounds("nginx", 14, 14, 14));
    samples.addAll(rounds("haproxy", 12.5, 13, 12));

    assertThat(Table.text(MEASUREMENT, samples))
        .isEqualTo(
            """
            relay: streams
              streams  proxy    CPU us        failed  to the better
              500      sluice   11 (10.5-12)  0       0.88
              500      nginx    14            0
              500      haproxy  12.5 (12-13)  0
            """);
  }

  @Test
  void aTableOfSluiceAloneHasNoRatio() {
    assertThat(Table.text(MEASUREMENT, rounds("sluice", 12)).lines().skip(2))
        .containsExactly("  500      sluice  12      0");
  }

  @Test
  void writesEachFigureOfEachRound() {
    assertThat(Table.csv(rounds("nginx", 1.5, 2)).lines())
        .containsExactly(
            "measurement,x,proxy,round,figure,value",
            "relay,500,nginx,1,CPU us,1.500",
            "relay,500,nginx,1,failed,0.000",
            "relay,500,nginx,2,CPU us,2.000",
            "relay,500,nginx,2,failed,0.000");
  }

  @Test
  void theMedianOfAnEvenNumberIsBetweenTheMiddleTwo() {
    assertThat(Table.median(new double[] {1, 2, 4, 9})).isEqualTo(3);
    assertThat(Table.median(new double[] {1, 2, 4})).isEqualTo(2);
  }

  @Test
  void numbersHaveAsManyDigitsAsTheyAreWorth() {
    assertThat(List.of(0.123, 12.34, 500.0, 12_345.6, Double.NaN))
        .extracting(Table::number)
        .containsExactly("0.12", "12.3", "500", "12346", "-");
  }

  private static List<Sample> rounds(String proxy, double... cpu) {
    List<Sample> samples = new ArrayList<>();
    for (double value : cpu) {
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put("CPU us", value);
      figures.put("failed", 0.0);
      samples.add(new Sample("relay", 500, proxy, samples.size() + 1, figures));
    }
    return samples;
  }
}
