package dev.sluice.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.compare.Chart.Point;
import dev.sluice.compare.Chart.Tick;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ChartTest {
  @Test
  void placesPointsByTheirNumbers() throws Exception {
    Chart chart = new Chart("t", "x", false, "y", false);
    chart.line("a", List.of(new Point(0, 0), new Point(50, 5), new Point(100, 10)));

    // Both axes end 5 % past the largest number.
    assertThat(attributes(parse(chart), "polyline", "points"))
        .containsExactly("70.0,350.0 370.0,202.4 670.0,54.8");
  }

  @Test
  void drawsFactorsOfTenAtOneDistanceOnALogarithmicAxis() throws Exception {
    Chart chart = new Chart("t", "x", true, "y", true);
    chart.line("a", List.of(new Point(1, 1), new Point(10, 10), new Point(100, 100)));

    assertThat(attributes(parse(chart), "polyline", "points"))
        .containsExactly("70.0,350.0 385.0,195.0 700.0,40.0");
    assertThat(texts(parse(chart))).contains("1", "2", "5", "10", "20", "50", "100");
  }

  @Test
  void leavesOutWhatCannotBeDrawn() throws Exception {
    Chart chart = new Chart("t", "x", true, "y", false);
    chart.line("a", List.of(new Point(0, 1), new Point(1, Double.NaN)));

    assertThat(attributes(parse(chart), "polyline", "points")).containsExactly("");
  }

  @Test
  void namesLinesAndAxesWhateverTheyAreCalled() throws Exception {
    Chart chart = new Chart("a < b & c", "x", false, "y", false);
    chart.line("one", List.of(new Point(1, 1)));
    chart.line("two", List.of(new Point(2, 2)));
    chart.xTicks(List.of(new Tick(1, "first")));

    assertThat(texts(parse(chart))).contains("a < b & c", "x", "y", "one", "two", "first");
    assertThat(attributes(parse(chart), "polyline", "stroke")).doesNotHaveDuplicates();
  }

  private static Document parse(Chart chart) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(chart.svg())));
  }

  private static List<String> attributes(Document svg, String element, String name) {
    NodeList found = svg.getElementsByTagName(element);
    List<String> values = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      values.add(found.item(i).getAttributes().getNamedItem(name).getNodeValue());
    }
    return values;
  }

  private static List<String> texts(Document svg) {
    NodeList found = svg.getElementsByTagName("text");
    List<String> values = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      values.add(found.item(i).getTextContent());
    }
    return values;
  }
}
