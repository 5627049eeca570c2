/** Derives the protobuf package of a project that does not configure one. */
import { snakeCase } from "../../shared/protobuf/names.js";

/**
 * Returns the package for an npm name: `acme.shop_api.v1` for `@acme/shop-api`. Linters for protobuf require the
 * version at the end.
 */
export function protoPackageOf(npmName: string): string {
  const segments = npmName
    .replace(/^@/, "")
    .split(/[/.]/)
    .map(segment)
    .filter((part) => part !== "");
  return [...segments, "v1"].join(".");
}

function segment(text: string): string {
  const words = snakeCase(text)
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  // Names in protobuf must begin with a letter.
  return /^[0-9]/.test(words) ? `p${words}` : words;
}
