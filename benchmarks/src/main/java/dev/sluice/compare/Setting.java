package dev.sluice.compare;

/**
 * What proxies are started with.
 *
 * @param loops event loops, threads or workers of each
 * @param keys how many keys Sluice knows; the others know one
 * @param plans how many plans these keys have in turn; the others have none
 */
record Setting(int loops, int keys, int plans) {
  static final Setting USUAL = new Setting(2, 1, 1);
}
