package dev.sluice.demo;

/** The text that {@code sluice demo} prints when it is ready. */
public final class DemoBanner {
  private DemoBanner() {}

  /**
   * Commands to copy and paste: list, answer, stream in both dialects, hit the slot limit.
   *
   * @param port the port for callers
   * @param adminPort the port of the admin listener
   * @param freeKey the key on the plan {@code free}
   * @param proKey the key on the plan {@code pro}
   */
  public static String text(int port, int adminPort, String freeKey, String proKey) {
    return TEXT.replace("{url}", "http://127.0.0.1:" + port)
        .replace("{admin}", "http://127.0.0.1:" + adminPort)
        .replace("{free}", freeKey)
        .replace("{pro}", proKey);
  }

  private static final String TEXT =
      """
      Sluice is ready at {url}, in front of a demo upstream that streams words.

        plan free   2 streams at once, model small               {free}
        plan pro    100 streams, 10 a key, models small and big  {pro}

      List the models:

        curl -s {url}/v1/models -H 'Authorization: Bearer {pro}'

      Get an answer:

        curl -s {url}/v1/chat/completions \\
          -H 'Authorization: Bearer {pro}' -H 'Content-Type: application/json' \\
          -d '{"model":"big","messages":[{"role":"user","content":"Hello there"}]}'

      Read a stream, Chat Completions and Messages:

        curl -sN {url}/v1/chat/completions \\
          -H 'Authorization: Bearer {pro}' -H 'Content-Type: application/json' \\
          -d '{"model":"big","stream":true,"messages":[{"role":"user","content":"Hello there"}]}'

        curl -sN {url}/v1/messages \\
          -H 'Authorization: Bearer {pro}' -H 'Content-Type: application/json' \\
          -d '{"model":"big","stream":true,"max_tokens":20,"messages":[{"role":"user","content":"Hello there"}]}'

      Hit the slot limit: of three streams on the plan with 2 slots, one is answered 429:

        for i in 1 2 3; do curl -sN -o /dev/null -w 'stream %{http_code}\\n' {url}/v1/chat/completions \\
          -H 'Authorization: Bearer {free}' -H 'Content-Type: application/json' \\
          -d '{"model":"small","stream":true,"messages":[{"role":"user","content":"Hello there"}]}' & done; wait

      Ask for a model that is not in the plan (403):

        curl -s {url}/v1/chat/completions \\
          -H 'Authorization: Bearer {free}' -H 'Content-Type: application/json' \\
          -d '{"model":"big","messages":[{"role":"user","content":"Hello there"}]}'

      Watch it: curl -s {admin}/metrics | grep ^sluice_
      Stop it:  Ctrl-C
      """;
}
