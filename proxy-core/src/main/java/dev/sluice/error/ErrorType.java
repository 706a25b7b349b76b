package dev.sluice.error;

/** The values of {@code error.type} in an error body, one for each status of the contract. */
public enum ErrorType {
  INVALID_REQUEST("invalid_request_error"),
  AUTHENTICATION("authentication_error"),
  PERMISSION("permission_error"),
  NOT_FOUND("not_found_error"),
  REQUEST_TOO_LARGE("request_too_large"),
  UNSUPPORTED_MEDIA_TYPE("unsupported_media_type"),
  RATE_LIMIT("rate_limit_error"),
  UPSTREAM("upstream_error"),
  OVERLOADED("overloaded_error"),
  API("api_error");

  private final String wireName;

  ErrorType(String wireName) {
    this.wireName = wireName;
  }

  /** The value as it stands in the JSON body. */
  public String wireName() {
    return wireName;
  }
}
