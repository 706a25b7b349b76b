/**
 * What {@code sluice demo} adds: a small upstream that answers in both dialects without a model,
 * and the text that shows a newcomer what to try.
 */
@NullMarked
package dev.sluice.demo;

import org.jspecify.annotations.NullMarked;
