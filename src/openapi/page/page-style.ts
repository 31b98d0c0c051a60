/** How the page of the API looks, in light and in dark. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fff, #14171a); --raised: light-dark(#f5f7f9, #1b1f24); --line: light-dark(#dfe3e8, #30363d);
  --text: light-dark(#1c2024, #e6e8eb); --quiet: light-dark(#5b6470, #9aa4b0); --link: light-dark(#0b5cad, #7ab8ff);
}
* { box-sizing: border-box; }
body { display: grid; grid-template-columns: 16rem minmax(0, 1fr); margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-inline-end: 1px solid var(--line); background: var(--raised); font-size: .9rem; }
nav ul { margin: .1rem 0 1rem; padding: 0; list-style: none; }
nav li a { display: block; padding: .15rem 0; color: inherit; text-decoration: none; }
nav li a:hover { text-decoration: underline; }
nav input { width: 100%; margin: .25rem 0 1.25rem; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--page); color: inherit; font: inherit; }
main { width: 100%; max-width: 62rem; padding: 2rem clamp(1rem, 4vw, 3rem) 6rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3rem 0 .25rem; padding-top: .5rem; text-transform: capitalize; }
h3 { margin: 1.5rem 0 .4rem; font-size: .95rem; }
h4 { margin: 1rem 0 .3rem; font-size: .85rem; color: var(--quiet); font-weight: 600; }
p { margin: .3rem 0; }
a { color: var(--link); }
.quiet { color: var(--quiet); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 1; padding: .3rem .6rem; background: var(--page); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; overflow-wrap: anywhere; }
pre { margin: .3rem 0; padding: .75rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; background: var(--raised); }
section > details { margin: .6rem 0; border: 1px solid var(--line); border-radius: .5rem; scroll-margin-top: 1rem; }
section > details > summary { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: baseline; padding: .6rem .9rem; cursor: pointer; }
section > details[open] > summary { border-bottom: 1px solid var(--line); }
section > details > div { padding: .5rem .9rem 1.2rem; }
.method { min-width: 4.2rem; padding: .05rem .4rem; border-radius: .3rem; background: var(--method, #57606a); color: #fff; font: 700 .75rem/1.6 ui-monospace, monospace; text-align: center; }
.get { --method: #0b5cad; } .post { --method: #1a7037; } .put { --method: #8a4b00; } .patch { --method: #6b3fa0; } .delete { --method: #b3261e; }
.open { margin-inline-start: auto; color: var(--quiet); font-size: .85rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; }
td:first-child { white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; }
.shape { margin: .2rem 0; padding-inline-start: 1rem; border-inline-start: 2px solid var(--line); list-style: none; font-size: .9rem; }
.shape li { margin: .4rem 0; }
.shape p { margin: 0; }
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 14rem; border: 0; border-bottom: 1px solid var(--line); }
}
`;
