package dev.sluice.status;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.page.Reply;
import dev.sluice.status.StatusSource.ModelStatus;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How each model is, and was over the last day. Knows the models that are configured: one that goes
 * takes its history along. One thread at a time.
 */
final class Board {
  private final StatusSource source;
  private final InstantSource clock;
  private final Map<String, Day> days = new HashMap<>();
  private @Nullable Instant since;

  Board(StatusSource source, InstantSource clock) {
    this.source = source;
    this.clock = clock;
  }

  /** Looks at all models once. */
  void see() {
    if (source.isStarting()) {
      return; // nobody could call yet
    }
    Instant now = clock.instant();
    if (since == null) {
      since = now.truncatedTo(ChronoUnit.SECONDS);
    }
    long bucket = Day.bucket(now.getEpochSecond());
    Set<String> ids = new HashSet<>();
    for (ModelStatus model : source.models()) {
      ids.add(model.id());
      days.computeIfAbsent(model.id(), id -> new Day()).see(bucket, model.availability());
    }
    days.keySet().retainAll(ids);
  }

  /** All that everybody may know, as JSON. */
  String json() {
    long last = Day.bucket(clock.instant().getEpochSecond());
    long first = last - Day.BUCKETS + 1;
    List<ModelStatus> models = source.models();
    return Reply.object(
        json -> {
          json.writeStringField("since", since == null ? null : since.toString());
          json.writeStringField(
              "first_bucket", Instant.ofEpochSecond(first * Day.BUCKET.toSeconds()).toString());
          json.writeNumberField("bucket_seconds", Day.BUCKET.toSeconds());
          json.writeArrayFieldStart("models");
          for (ModelStatus model : models) {
            write(json, model, last);
          }
          json.writeEndArray();
        });
  }

  private void write(JsonGenerator json, ModelStatus model, long last) throws IOException {
    Day day = days.getOrDefault(model.id(), new Day());
    int permille = day.permilleAnswered(last);
    json.writeStartObject();
    json.writeStringField("id", model.id());
    json.writeStringField("availability", model.availability().label());
    json.writeStringField("until", model.until() == null ? null : model.until().toString());
    if (permille < 0) {
      json.writeNullField("answered_percent");
    } else {
      json.writeNumberField("answered_percent", BigDecimal.valueOf(permille, 1));
    }
    json.writeStringField("history", day.letters(last));
    json.writeEndObject();
  }
}
