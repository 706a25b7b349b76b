package dev.sluice.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.sluice.openapi.OpenApiDocument;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The request schemas of the OpenAPI document say the same as the inspection of a request, read by
 * a validator of JSON Schema. In this package to see the table of fields.
 */
class OpenApiRequestTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final OpenApiDocument DOCUMENT = new OpenApiDocument();
  private static final Map<Operation, JsonSchema> SCHEMAS =
      Map.of(
          Operation.CHAT_COMPLETIONS, schema("ChatCompletionsRequest"),
          Operation.MESSAGES, schema("MessagesRequest"));

  static final List<Operation> OPERATIONS = Operation.BUILT_IN;

  @ParameterizedTest
  @FieldSource("OPERATIONS")
  void theFieldsAreThoseOfTheCode(Operation operation) {
    Set<String> fields = new TreeSet<>(RequestFields.of(operation.dialect()).keySet());
    fields.addAll(Set.of("model", "messages", "stream"));

    assertThat(new TreeSet<>(properties(operation))).isEqualTo(fields);
  }

  @ParameterizedTest
  @FieldSource("OPERATIONS")
  void aFieldTakesTheTypesThatTheCodeTakes(Operation operation) throws Exception {
    List<String> values =
        List.of("\"text\"", "\"\"", "1", "1.0", "1.5", "true", "false", "null", "{}", "[]");
    for (String name : properties(operation)) {
      for (String value : values) {
        String others = "";
        for (String required : List.of("model", "messages")) {
          if (!required.equals(name)) {
            others += ",\"" + required + "\":" + VALID.get(required);
          }
        }
        String body = "{\"" + name + "\":" + value + others + "}";

        assertThat(schemaAccepts(operation, body)).as(body).isEqualTo(codeAccepts(operation, body));
      }
    }
  }

  private static final Map<String, String> VALID =
      Map.of("model", "\"m\"", "messages", "[{\"role\":\"user\",\"content\":\"x\"}]");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'role':'user','content':'x'}",
        "{'role':'user','content':''}",
        "{'role':'user','content':[]}",
        "{'role':'user','content':[{'type':'text','text':''}]}",
        "{'role':'user','content':[{'type':'unheard_of','text':7}]}",
        "{'role':'assistant','content':null,'tool_calls':[]}",
        "{'role':'assistant','tool_calls':[{}],'function_call':null}",
        "{'role':'assistant','function_call':{}}",
        "{'role':'user','content':[{'type':'image_url',"
            + "'image_url':{'url':'data:image/png;base64,AAAA'}}]}",
        "{'role':'user','content':[{'type':'image_url',"
            + "'image_url':{'url':'DATA:Image/svg+xml;charset=utf-8;BASE64,AA=='}}]}",
        "{'role':'user','content':[{'type':'image',"
            + "'source':{'type':'base64','media_type':'image/png','data':'AAA='}}]}",
        "{'role':'user','content':[{'type':'image',"
            + "'source':{'type':'url','url':'data:image/png;base64,AAAA'}}]}",
        "{'role':'user','content':[{'type':'tool_result','content':'x'}]}",
        "{'role':'user','content':[{'type':'document','source':{'type':'file'}}]}"
      })
  void aMessageThatBothTake(String message) throws Exception {
    verdictOnMessage(message, true);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7",
        "{}",
        "{'content':'x'}",
        "{'role':'','content':'x'}",
        "{'role':null,'content':'x'}",
        "{'role':'user'}",
        "{'role':'user','content':null}",
        "{'role':'user','content':7}",
        "{'role':'user','content':{}}",
        "{'role':'user','content':['x']}",
        "{'role':'user','content':[{'text':'x'}]}",
        "{'role':'user','content':[{'type':7}]}",
        "{'role':'user','content':[{'type':'text'}]}",
        "{'role':'user','content':[{'type':'text','text':null}]}",
        "{'role':'assistant','content':null,'tool_calls':null}",
        "{'role':'assistant','content':null,'function_call':null}",
        "{'role':'assistant','content':'x','tool_calls':{}}",
        "{'role':'assistant','content':'x','function_call':[]}",
        "{'role':'user','content':[{'type':'image_url'}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':'data:image/png;base64,AAAA'}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':'https://a/b.png'}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            + "'data:text/plain;base64,AAAA'}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            + "'data:image/png,AAAA'}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            + "'data:image/png;base64,'}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            + "'data:image/png;base64,AAA'}}]}",
        "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            + "'data:image/png;base64,AA_-'}}]}",
        "{'role':'user','content':[{'type':'image','source':{'type':'file','file_id':'x'}}]}",
        "{'role':'user','content':[{'type':'image','source':{'type':'base64','data':'AAAA'}}]}",
        "{'role':'user','content':[{'type':'image',"
            + "'source':{'type':'base64','media_type':'text/plain','data':'AAAA'}}]}",
        "{'role':'user','content':[{'type':'image',"
            + "'source':{'type':'base64','media_type':'image/png','data':'A'}}]}",
        "{'role':'user','content':[{'type':'image',"
            + "'source':{'type':'url','url':'https://a/b.png'}}]}",
        "{'role':'user','content':[{'type':'tool_result','content':[{'type':'image'}]}]}",
        "{'role':'user','content':[{'type':'document','source':{'content':[{'type':'text'}]}}]}"
      })
  void aMessageThatBothRefuse(String message) throws Exception {
    verdictOnMessage(message, false);
  }

  private static void verdictOnMessage(String message, boolean accepted) throws Exception {
    String body = "{\"model\":\"m\",\"messages\":[" + message.replace('\'', '"') + "]}";
    for (Operation operation : OPERATIONS) {
      assertThat(codeAccepts(operation, body)).as("code, " + body).isEqualTo(accepted);
      assertThat(schemaAccepts(operation, body)).as("schema, " + body).isEqualTo(accepted);
    }
  }

  private static Set<String> properties(Operation operation) {
    String name =
        operation.equals(Operation.MESSAGES) ? "MessagesRequest" : "ChatCompletionsRequest";
    return DOCUMENT.at("components", "schemas", name, "properties").keySet();
  }

  private static boolean codeAccepts(Operation operation, String body) {
    byte[] bytes = body.getBytes(UTF_8);
    return RequestInspector.inspect(bytes, 0, bytes.length, operation) instanceof RequestFacts;
  }

  private static boolean schemaAccepts(Operation operation, String body)
      throws JsonProcessingException {
    JsonSchema schema = Objects.requireNonNull(SCHEMAS.get(operation));
    return schema.validate(JSON.readTree(body)).isEmpty();
  }

  private static JsonSchema schema(String name) {
    JsonNode schema =
        JSON.valueToTree(
            Map.of(
                "$ref", "#/components/schemas/" + name, "components", DOCUMENT.at("components")));
    return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(schema);
  }
}
