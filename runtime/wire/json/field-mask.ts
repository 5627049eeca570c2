/** Field masks in the JSON mapping: `user.displayName,photo`. A path is refused if reading it back would give another one. */

const path = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Converts a path to camel case. Returns undefined if it is invalid, or cannot be converted back. */
export function formatPath(text: string): string | undefined {
  if (!path.test(text)) return undefined;
  const camel = text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return !camel.includes("_") && snake(camel) === text ? camel : undefined;
}

/** Converts a path to snake case. Returns undefined if it is invalid or has underscores. */
export function parsePath(text: string): string | undefined {
  return path.test(text) && !text.includes("_") ? snake(text) : undefined;
}

function snake(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
