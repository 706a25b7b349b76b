package dev.sluice.upstream;

import dev.sluice.cluster.Endpoint;
import dev.sluice.http.ConnectionTokens;
import dev.sluice.http.HeadWriter;
import dev.sluice.http.Pieces;
import dev.sluice.http.RequestId;
import dev.sluice.http.TraceContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Writes the head of a request to an upstream. End-to-end headers and the target go on as they
 * came; what belongs to the connection, to the caller alone or to Sluice does not.
 */
public final class RequestEncoder {
  /** Headers that Sluice drops or writes itself, in lower case. */
  private static final Set<String> OWN =
      Set.of(
          "accept-encoding", // an answer must be readable to be checked
          "authorization", // the caller's key is for Sluice alone
          "content-length",
          "expect", // met here
          "host",
          TraceContext.TRACEPARENT,
          TraceContext.TRACESTATE,
          "via",
          RequestId.HEADER);

  private RequestEncoder() {}

  /**
   * The head of a request.
   *
   * @param method the method, as in {@code POST}
   * @param target path and query as they were sent, beginning with a slash
   * @param downstream the headers as they were read: every value was checked
   * @param http10 whether the caller spoke HTTP/1.0
   * @param spanId the attempt's span in the trace
   */
  public static ByteBuf encode(
      ByteBufAllocator alloc,
      Endpoint endpoint,
      String method,
      String target,
      HttpHeaders downstream,
      boolean http10,
      String requestId,
      TraceContext trace,
      long spanId,
      int bodyBytes) {
    HeadWriter head = HeadWriter.begin();
    head.text(method)
        .text(" ")
        .text(endpoint.basePath())
        .text(target)
        .text(" HTTP/1.1")
        .endOfLine();
    head.header(HttpHeaderNames.HOST, endpoint.authority());
    if (endpoint.credential() != null) {
      head.header(HttpHeaderNames.AUTHORIZATION, "Bearer " + endpoint.credential());
    }
    head.header(HttpHeaderNames.CONTENT_LENGTH, bodyBytes);
    head.header(RequestId.HEADER, requestId);
    trace.write(head, spanId);
    head.header(HttpHeaderNames.VIA, via(downstream, http10));
    ConnectionTokens connection = ConnectionTokens.of(downstream);
    Iterator<Map.Entry<CharSequence, CharSequence>> headers = downstream.iteratorCharSequence();
    while (headers.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = headers.next();
      String name = header.getKey().toString().toLowerCase(Locale.ROOT);
      if (!OWN.contains(name) && !connection.endsHere(name)) {
        head.header(header.getKey(), header.getValue());
      }
    }
    return head.endOfLine().toBuffer(alloc, Pieces.room(bodyBytes));
  }

  /** RFC 9110 section 7.6.3: a gateway adds itself to {@code Via}, behind those before it. */
  private static String via(HttpHeaders downstream, boolean http10) {
    String self = http10 ? "1.0 sluice" : "1.1 sluice";
    if (!downstream.contains(HttpHeaderNames.VIA)) {
      return self;
    }
    String before = String.join(", ", downstream.getAll(HttpHeaderNames.VIA));
    return before.isEmpty() ? self : before + ", " + self;
  }
}
