/** The reader of YAML, as a part of its own: the package contains it, and what reads YAML loads it when it is needed. */
export { LineCounter, parseDocument } from "yaml";
