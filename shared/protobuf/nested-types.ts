/**
 * Types of a file stand inside of others, as their names tell. What stands inside of a message that the schema does not have, as in a
 * namespace without a type of its name, gets an empty one around it.
 */

export interface NestedMessage {
  readonly name: string;
  /** Without what is around it. */
  readonly simple: string;
  readonly messages: readonly NestedMessage[];
  readonly enums: readonly NestedEnum[];
}

export interface NestedEnum {
  readonly name: string;
  readonly simple: string;
}

export interface NestedTypes {
  readonly messages: readonly NestedMessage[];
  readonly enums: readonly NestedEnum[];
}

/**
 * The types of a file as they nest, in the order of the lists.
 * @param file full names
 */
export function nestedTypes(file: {
  readonly package: string;
  readonly messages: readonly string[];
  readonly enums: readonly string[];
}): NestedTypes {
  const prefix = file.package === "" ? "" : `${file.package}.`;
  const top = { messages: [] as NestedMessageBuilder[], enums: [] as NestedEnum[] };
  const known = new Map<string, NestedMessageBuilder>();
  const around = (name: string): { readonly messages: NestedMessageBuilder[]; readonly enums: NestedEnum[] } => {
    const end = name.lastIndexOf(".");
    return end < prefix.length ? top : messageOf(name.slice(0, end));
  };
  const messageOf = (name: string): NestedMessageBuilder => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const message: NestedMessageBuilder = {
      name,
      simple: name.slice(name.lastIndexOf(".") + 1),
      messages: [],
      enums: [],
    };
    known.set(name, message);
    around(name).messages.push(message);
    return message;
  };
  for (const name of file.messages) messageOf(name);
  for (const name of file.enums) around(name).enums.push({ name, simple: name.slice(name.lastIndexOf(".") + 1) });
  return top;
}

interface NestedMessageBuilder extends NestedMessage {
  readonly messages: NestedMessageBuilder[];
  readonly enums: NestedEnum[];
}
