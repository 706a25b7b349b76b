package dev.sluice.compare;

import java.util.Map;

/**
 * What one load came to on one proxy.
 *
 * @param x the number that the steps of the measurement differ in
 * @param round counted from 1
 * @param figures by their names, units included, in the order in which they are shown
 */
record Sample(String measurement, double x, String proxy, int round, Map<String, Double> figures) {}
