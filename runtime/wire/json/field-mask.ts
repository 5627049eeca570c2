/** Field masks in the JSON mapping: `user.displayName,photo`. Only paths that come back as they were are written. */

const path = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** The path as JSON has it; undefined if it is none, or would not come back as it was. */
export function formatPath(text: string): string | undefined {
  if (!path.test(text)) return undefined;
  const camel = text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return !camel.includes("_") && snake(camel) === text ? camel : undefined;
}

/** The path in snake case; undefined if it is none, or has underscores. */
export function parsePath(text: string): string | undefined {
  return path.test(text) && !text.includes("_") ? snake(text) : undefined;
}

function snake(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
