/**
 * Returns the anchor of a heading, as GitHub makes it, so that one link works there and on the site. Headings that repeat
 * get a number, which this function does not add.
 */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}
