// The types of schemas/generics.ts, without codecs.
import type { Box, Pair } from "./lib/boxes.js";

/** A page of `T`s. */
export interface Page<T> {
  items: T[];
  next?: string;
}

/** The type parameter is not used. */
export interface Tagged<_T> {
  tag: string;
}

export interface Item {
  id: number;
}

export type Items = Page<Item>;

export interface Uses {
  items: Page<Item>;
  pages: Page<Page<string>>;
  box: Box<Item>;
  pair: Pair<number, Box<string>>;
  tagged: Tagged<Item>;
}
