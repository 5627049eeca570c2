/** The protobuf package of a project that does not name one. */
import { snakeCase } from "../../shared/protobuf/names.js";

/** `@acme/shop-api` is `acme.shop_api.v1`: as tools for protobuf want it, with a version at the end. */
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
  // A name of protobuf begins with a letter.
  return /^[0-9]/.test(words) ? `p${words}` : words;
}
