package dev.sluice.compare;

/**
 * What proxies are started with.
 *
 * @param loops event loops, threads or workers of each
 * @param keys how many keys Sluice knows; the others know one
 */
record Setting(int loops, int keys) {
  static final Setting USUAL = new Setting(2, 1);
}
