package dev.sluice.access;

/**
 * The account that holds a plan.
 *
 * @param name the subscription's name
 * @param plan the plan's name
 * @param active whether it may call at all; 403 where not
 */
public record Subscription(String name, String plan, boolean active) {}
