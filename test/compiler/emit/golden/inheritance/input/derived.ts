import type { Int32 } from "viceroy/schema";
import type { Entity, Named } from "./base.js";

export interface Person extends Entity {
  name: string;
}

export interface Employee extends Person {
  salary: Int32;
}

export interface Greeter extends Named {
  greet(person: Person): string;
}

/** Also says it loudly. */
export interface LoudGreeter extends Greeter {
  shout(person: Employee, volume?: Int32): string;
}
