package dev.sluice.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Json;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What everybody is told of the models. */
class BoardTest {
  private final FakeSource source = new FakeSource();
  private Instant now = Instant.parse("2026-05-04T03:02:01.9Z");
  private final Board board = new Board(source, () -> now);

  private List<Map<String, Object>> models() {
    return Json.objects(Json.object(board.json()), "models");
  }

  @Test
  void allOfItIsOneDocument() {
    source.model("small", Availability.AVAILABLE);
    source.model("big", Availability.MAINTENANCE, Instant.parse("2026-05-04T04:00:00Z"));
    board.see();

    assertThat(board.json())
        .isEqualTo(
            "{\"since\":\"2026-05-04T03:02:01Z\",\"first_bucket\":\"2026-05-03T03:05:00Z\","
                + "\"bucket_seconds\":300,\"models\":["
                + "{\"id\":\"small\",\"availability\":\"available\",\"until\":null,"
                + "\"answered_percent\":100.0,\"history\":\""
                + "-".repeat(287)
                + "a\"},"
                + "{\"id\":\"big\",\"availability\":\"maintenance\","
                + "\"until\":\"2026-05-04T04:00:00Z\",\"answered_percent\":null,\"history\":\""
                + "-".repeat(287)
                + "m\"}]}\n");
  }

  @Test
  void itIsTheSameTextWhileNothingChanges() {
    source.model("small", Availability.AVAILABLE);
    board.see();
    String before = board.json();
    now = now.plusSeconds(100);
    board.see();

    assertThat(board.json()).isEqualTo(before);
  }

  @Test
  void aModelThatGoesTakesItsHistoryAlong() {
    source.model("small", Availability.UNAVAILABLE).model("big", Availability.AVAILABLE);
    board.see();
    source.models.remove("small");
    board.see();
    assertThat(models()).extracting(model -> model.get("id")).containsExactly("big");

    source.model("small", Availability.AVAILABLE);
    board.see();
    assertThat(models()).hasSize(2);
    assertThat(models().get(1).get("history")).isEqualTo("-".repeat(287) + "a");
  }

  @Test
  void aModelThatIsNewIsToldBeforeItWasSeen() {
    source.model("small", Availability.DEGRADED);

    assertThat(models().get(0))
        .containsEntry("availability", "degraded")
        .containsEntry("history", "-".repeat(288));
  }

  @Test
  void aStartIsNoIncident() {
    source.model("small", Availability.UNAVAILABLE);
    source.starting = true;
    board.see();
    assertThat(models().get(0).get("history")).isEqualTo("-".repeat(288));
    assertThat(Json.object(board.json())).containsEntry("since", null);

    source.starting = false;
    source.model("small", Availability.AVAILABLE);
    board.see();
    assertThat(models().get(0).get("history")).isEqualTo("-".repeat(287) + "a");
  }
}
