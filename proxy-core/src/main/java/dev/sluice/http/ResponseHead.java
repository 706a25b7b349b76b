package dev.sluice.http;

import io.netty.handler.codec.http.HttpHeaders;

/**
 * The head of an upstream's answer.
 *
 * @param status the status code, 100 to 599
 * @param http10 whether the upstream spoke HTTP/1.0
 * @param headers all header lines as they came
 */
public record ResponseHead(int status, boolean http10, HttpHeaders headers) {}
