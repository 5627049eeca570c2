/**
 * The messages. There are sixteen instances of each, so that V8 cannot fold values into constants. Strings are flat, as they come
 * from a socket. Absent optionals are absent properties.
 */
import { records } from "../rpc/records.js";

function flat(text) {
  const bytes = Buffer.from(text, "utf8");
  return bytes.toString(bytes.length === text.length ? "latin1" : "utf8");
}

const instances = (make) => Array.from({ length: 16 }, (_, v) => make(v));
const cities = ["Amsterdam", "Berlin", "San Francisco", "Kuala Lumpur", "Rio de Janeiro"];

function person(v, i, name) {
  return {
    id: i + 1,
    name: flat(name + (v * 100 + i)),
    email: flat(`person${i}@example${v}.com`),
    city: flat(cities[(i + v) % 5]),
  };
}

/** A hundred records of strings. If `wide`, every tenth name is not ASCII. */
function people(v, wide) {
  const nameOf = (i) => (wide && i % 10 === 0 ? "Zoë Ærøskøbing 東京 " : "Person Number ");
  return { people: Array.from({ length: 100 }, (_, i) => person(v, i, nameOf(i))) };
}

function numbers(v) {
  return {
    name: flat(`loss-${v}`),
    step: 100 * v + 1,
    values: Array.from({ length: 1024 }, (_, i) => Math.sin(i + v) * 1000),
  };
}

/** The messages by name. Peers without typed arrays omit `doubles`. */
export const messages = {
  tiny: instances((v) => ({ seq: 1000 + v * 77_777, ok: v % 3 !== 0 })),
  record: records,
  list: instances((v) => people(v, false)),
  listWide: instances((v) => people(v, true)),
  numbers: instances(numbers),
  doubles: instances((v) => ({ ...numbers(v), values: Float64Array.from(numbers(v).values) })),
};

/** The name of each message's type in the generated code of peers. */
export const types = {
  tiny: "Tiny",
  record: "Rec",
  list: "People",
  listWide: "People",
  numbers: "Numbers",
  doubles: "Doubles",
};

export const titles = {
  tiny: "Tiny: a number and a flag",
  record: "Record: twelve fields and four nested items",
  list: "List: a hundred records of strings, ASCII",
  listWide: "List: a hundred records of strings, every tenth not ASCII",
  numbers: "1024 doubles as number[]",
  doubles: "1024 doubles as Float64Array",
};
