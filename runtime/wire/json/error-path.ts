/** Adds the path of a value to errors of the JSON mapping. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { type PathSegment, withPathSegment } from "../codec-refusal.js";

/** Runs `step`, and adds `segment` to the path of a refusal. */
export function atSegment<T>(segment: PathSegment, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw withPathSegment(error, segment);
  }
}

/** Returns the path segment of a key: `.keys()[2]` for the third one. */
export function keySegment(index: number): PathSegment {
  return { text: `.keys()[${index}]` };
}

/** Returns the path segment of the value of a key: `["a"]`. */
export function valueSegment(key: unknown): PathSegment {
  return { text: `[${describeValue(key)}]` };
}
