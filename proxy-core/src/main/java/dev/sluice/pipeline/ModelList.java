package dev.sluice.pipeline;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.cluster.Catalog;
import dev.sluice.cluster.Model;
import dev.sluice.exchange.Exchange;
import dev.sluice.exchange.Route;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answers {@code GET /v1/models} and {@code GET /v1/models/{id}}: every configured model, whatever
 * the caller's plan, as objects that the SDKs of both families parse. Everything else passes.
 */
final class ModelList extends Step {
  private static final JsonFactory JSON = new JsonFactory();

  /** The bytes of one catalog: of the last that was asked for. */
  private static final class Rendered {
    final Catalog catalog;
    final byte[] list;
    final Map<String, byte[]> items = new HashMap<>();

    Rendered(Catalog catalog) {
      this.catalog = catalog;
      this.list = json(generator -> writeList(generator, catalog.models()));
      for (Model model : catalog.models()) {
        items.put(model.id(), json(generator -> writeItem(generator, model)));
      }
    }
  }

  private volatile @Nullable Rendered rendered;

  @Override
  void take(Exchange exchange) {
    if (exchange.route() instanceof Route.ModelList) {
      exchange.answer(200, rendered(exchange).list);
    } else if (exchange.route() instanceof Route.ModelItem item) {
      byte[] found = rendered(exchange).items.get(item.id());
      if (found == null) {
        exchange.refuse(ModelAccess.UNKNOWN);
      } else {
        exchange.answer(200, found);
      }
    } else {
      pass(exchange);
    }
  }

  private Rendered rendered(Exchange exchange) {
    Catalog catalog = exchange.snapshot().catalog();
    Rendered last = rendered;
    if (last == null || last.catalog != catalog) {
      last = new Rendered(catalog);
      rendered = last;
    }
    return last;
  }

  private static void writeList(JsonGenerator json, List<Model> models) throws IOException {
    json.writeStartObject();
    json.writeStringField("object", "list");
    json.writeArrayFieldStart("data");
    for (Model model : models) {
      writeItem(json, model);
    }
    json.writeEndArray();
    json.writeBooleanField("has_more", false);
    json.writeFieldName("first_id");
    json.writeString(models.isEmpty() ? null : models.get(0).id());
    json.writeFieldName("last_id");
    json.writeString(models.isEmpty() ? null : models.get(models.size() - 1).id());
    json.writeEndObject();
  }

  private static void writeItem(JsonGenerator json, Model model) throws IOException {
    json.writeStartObject();
    json.writeStringField("id", model.id());
    json.writeStringField("object", "model");
    json.writeStringField("type", "model");
    json.writeNumberField("created", model.created().getEpochSecond());
    json.writeStringField("created_at", model.created().truncatedTo(ChronoUnit.SECONDS).toString());
    json.writeStringField("owned_by", model.ownedBy());
    json.writeStringField("display_name", model.id());
    json.writeEndObject();
  }

  private interface Writing {
    void to(JsonGenerator json) throws IOException;
  }

  private static byte[] json(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator generator = JSON.createGenerator(bytes)) {
      writing.to(generator);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory does not fail", e);
    }
    return bytes.toByteArray();
  }
}
