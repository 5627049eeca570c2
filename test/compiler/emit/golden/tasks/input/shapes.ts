import type { Task } from "viceroy/schema";
import type { Page } from "./geometry.js";

export interface Line {
  from: Point;
  to: Point;
}

interface Point {
  x: number;
  y: number;
}

/** Uses a type of the file that uses this file. */
export interface Sort extends Task<[page: Page<Line>], Page<Line>> {}
