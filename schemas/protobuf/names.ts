/** Names in the protobuf layout: one spelling for the compiler, which prints them, and the runtime, which reads JSON. */

/** `optionalInt32` and `HTTPServer` are `optional_int32` and `http_server`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}

/** As protobuf makes it of a field's name: without underscores, the letter behind one a capital. */
export function jsonName(fieldName: string): string {
  return fieldName.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}

/** `Color` and `darkRed` are `COLOR_DARK_RED`. */
export function enumValueName(enumName: string, value: string): string {
  const words = (text: string): string =>
    snakeCase(text)
      .replace(/[^a-z0-9]+/g, "_")
      .toUpperCase();
  return `${words(enumName)}_${words(value)}`;
}
