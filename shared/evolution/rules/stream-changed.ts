/**
 * Reports endpoints that change between one answer and a stream. A caller that expects one of them cannot use the
 * other.
 */
import type { ServiceRule } from "../wire-rule.js";

export const streamChanged: ServiceRule = {
  code: "VC5017",
  name: "stream-changed",
  fix: "Add an endpoint with another name, and keep this one for older callers.",
  compares: "service",
  find({ older, newer }) {
    return newer.methods.flatMap(({ id, name, stream }) => {
      const before = older.methods.find((method) => method.id === id);
      if (before === undefined || before.stream === stream) return [];
      const [was, is] = stream ? ["one answer", "a stream"] : ["a stream", "one answer"];
      return [{ place: `${newer.name}.${name}`, text: `it gave ${was} and gives ${is}: callers wait for the other` }];
    });
  },
};
