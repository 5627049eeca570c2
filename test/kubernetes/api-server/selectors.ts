/** Label selectors and field selectors, as queries write them. */
import type { ApiObject } from "./resources.js";
import { badRequest } from "./status-error.js";

export type Selector = (object: ApiObject) => boolean;

/**
 * @param labels the query parameter `labelSelector`
 * @param fields the query parameter `fieldSelector`
 * @throws StatusError if one of them is malformed
 */
export function selector(labels: string | null, fields: string | null): Selector {
  const tests = [...split(labels).map(labelTest), ...split(fields).map(fieldTest)];
  return (object) => tests.every((test) => test(object));
}

/** Splits requirements at commas that are not inside parentheses. */
function split(text: string | null): string[] {
  return (text ?? "")
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function labelTest(requirement: string): Selector {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement);
  if (set !== null) {
    const values = set[3]!.split(",").map((value) => value.trim());
    const wanted = set[2] === "in";
    return ({ metadata }) => {
      const value = metadata.labels?.[set[1]!];
      return value === undefined ? !wanted : values.includes(value) === wanted;
    };
  }
  const equality = /^([^!=\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(requirement);
  if (equality !== null) {
    const [, key, operator, value] = equality;
    return ({ metadata }) => (metadata.labels?.[key!] === value) === (operator !== "!=");
  }
  const existence = /^(!?)([^!=\s()]+)$/.exec(requirement);
  if (existence === null) throw badRequest(`unable to parse requirement: found '${requirement}'`);
  return ({ metadata }) => (metadata.labels?.[existence[2]!] !== undefined) === (existence[1] === "");
}

function fieldTest(requirement: string): Selector {
  const parsed = /^([\w.]+)(==|=|!=)(.*)$/.exec(requirement);
  if (parsed === null) throw badRequest(`invalid selector: '${requirement}'; can't understand '${requirement}'`);
  const [, field, operator, value] = parsed;
  return (object) => {
    const found = field!.split(".").reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], object);
    return (String(found ?? "") === value) === (operator !== "!=");
  };
}
