/**
 * Nests the types of a file by their dotted names. A type inside a message that the schema does not have, as in a
 * namespace without a type of the same name, gets an empty message around it.
 */

export interface NestedMessage {
  readonly name: string;
  /** The last part of the name. */
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
 * Returns the types of a file as a tree, in the order of the lists.
 * @param file the package and the full names of its types
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
