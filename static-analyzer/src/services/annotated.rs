//! Handlers by annotations: those of a method, of what it overrides, and of its class before
//! them; annotations of the program's own that are annotated so themselves are followed.

use rayon::prelude::*;
use schema::LinkKind;

use super::handler_apis::{ANNOTATIONS, CLIENT_PACKAGES, CLIENTS, NO_ROUTES, PATHS, Says, TOPICS, VERBS};
use super::template::{Template, is_path};
use super::{Handler, Route, verb_of};
use crate::call_graph::resolve::Resolver;
use crate::program::{Annotation, Class, ClassId, Method, MethodId, Name, access};

/// How many annotations stand on one another.
const META_LEVELS_MAX: usize = 4;

/// What an annotation says of how its method is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) verbs: Vec<String>,
    pub(super) paths: Vec<Name>,
    pub(super) topics: Vec<Name>,
    /// It says at least a verb or a path, by the table or by its shape.
    pub(super) is_http: bool,
    /// A table knows it.
    pub(super) is_listed: bool,
}

/// The handlers of all classes.
pub(super) fn find(resolver: &Resolver<'_>) -> Vec<Handler> {
    let classes = 0..resolver.program.classes.len();
    classes.into_par_iter().flat_map_iter(|class| of_class(resolver, ClassId::new(class))).collect()
}

fn of_class(resolver: &Resolver<'_>, id: ClassId) -> Vec<Handler> {
    let program = resolver.program;
    let class = &program.classes[id.index()];
    if class.access & access::INTERFACE != 0 {
        return Vec::new();
    }
    let own = resolver.supertypes(id);
    let mut found = Vec::new();
    for i in class.methods.clone() {
        let method = &program.methods[i];
        let is_made = method.access & (access::SYNTHETIC | access::BRIDGE | access::STATIC) != 0;
        if method.body.is_none() || is_made || method.name.starts_with('<') {
            continue;
        }
        let Some((declaring, mapping)) = mapping_of(resolver, &own, method) else { continue };
        // What a library implements to ask others is nobody's handler; a fallback of one neither.
        if declaring != id && is_client(&program.classes[declaring.index()]) {
            continue;
        }
        let is_shape = !mapping.is_listed;
        if is_shape && (method.access & access::PRIVATE != 0 || is_annotation(class)) {
            continue;
        }
        let prefixes = prefixes(resolver, &own, declaring);
        found.extend(handler(MethodId::new(i), &mapping, &prefixes));
    }
    found
}

fn handler(id: MethodId, mapping: &Mapping, prefixes: &[Name]) -> Option<Handler> {
    if !mapping.topics.is_empty() && !mapping.is_http {
        let route = |topic: &Name| Route {
            verb: String::new(),
            template: Template::default(),
            name: topic.as_str().to_owned(),
        };
        return Some(Handler {
            method: id,
            kind: LinkKind::Message,
            routes: mapping.topics.iter().map(route).collect(),
            is_certain: true,
            why: format!("takes messages of {}", texts_of(&mapping.topics)),
            at: None,
        });
    }
    let routes = routes(mapping, prefixes);
    let texts: Vec<String> = routes.iter().map(Route::text).collect();
    (mapping.is_http && !routes.is_empty()).then(|| Handler {
        method: id,
        kind: LinkKind::Http,
        routes,
        is_certain: true,
        why: format!("serves {}", texts.join(", ")),
        at: None,
    })
}

fn texts_of(names: &[Name]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Verbs and paths below the prefixes of a class.
pub(super) fn routes(mapping: &Mapping, prefixes: &[Name]) -> Vec<Route> {
    let all = |list: &[Name]| -> Vec<&'static str> {
        if list.is_empty() { vec![""] } else { list.iter().map(|name| name.as_str()).collect() }
    };
    let verbs = if mapping.verbs.is_empty() { vec![String::new()] } else { mapping.verbs.clone() };
    let mut routes = Vec::new();
    for prefix in all(prefixes) {
        for path in all(&mapping.paths) {
            for verb in &verbs {
                let template = Template::new(&[prefix, path]);
                routes.push(Route { verb: verb.clone(), template, name: String::new() });
            }
        }
    }
    routes
}

/// What the annotations of a method say, or those of what it overrides; with the class where
/// they stand.
pub(super) fn mapping_of(
    resolver: &Resolver<'_>,
    supers: &[ClassId],
    method: &Method,
) -> Option<(ClassId, Mapping)> {
    supers.iter().find_map(|&class| {
        let declared = resolver.declared(class, method.name, method.descriptor)?;
        let annotations = &resolver.program.methods[declared.index()].annotations;
        let mapping = mapping(resolver, annotations)?;
        Some((class, mapping))
    })
}

/// What annotations say together.
pub(super) fn mapping(resolver: &Resolver<'_>, annotations: &[Annotation]) -> Option<Mapping> {
    let mut all = Mapping::default();
    let mut says_verb_or_path = false;
    for annotation in annotations {
        says_verb_or_path |= add(resolver, annotation, &mut all, META_LEVELS_MAX);
    }
    (says_verb_or_path || !all.topics.is_empty()).then_some(all)
}

/// Adds what one annotation says; whether it says anything.
fn add(resolver: &Resolver<'_>, annotation: &Annotation, all: &mut Mapping, levels: usize) -> bool {
    let (package, name) = annotation.name();
    let row = ANNOTATIONS.iter().find(|row| (row.0, row.1) == (package, name));
    if let Some(&(_, _, says)) = row {
        all.is_listed = true;
        add_listed(annotation, says, all);
        return true;
    }
    let paths: Vec<Name> = annotation.all_texts().into_iter().filter(|text| is_path(text.as_str())).collect();
    if NO_ROUTES.iter().any(|prefix| annotation.class.starts_with(prefix)) {
        return false;
    }
    let own = resolver.own_class(annotation.class);
    if let Some(own) = own.filter(|_| levels > 0) {
        // An annotation of the program's own means what stands on it.
        let mut meta = Mapping::default();
        let mut says = false;
        for above in &resolver.program.classes[own.index()].annotations {
            says |= add(resolver, above, &mut meta, levels - 1);
        }
        if says {
            all.is_http |= meta.is_http;
            all.is_listed |= meta.is_listed;
            all.verbs.extend(meta.verbs);
            all.topics.extend(meta.topics);
            all.paths.extend(if paths.is_empty() { meta.paths } else { paths });
            return true;
        }
    }
    // By shape: a path on a method.
    let by_shape = own.is_none() && !paths.is_empty();
    if by_shape {
        all.is_http = true;
        all.verbs.extend(verb_of(name).map(str::to_owned));
        all.verbs.extend(verbs_in(annotation));
        all.paths.extend(paths);
    }
    by_shape
}

fn add_listed(annotation: &Annotation, says: Says, all: &mut Mapping) {
    let paths = annotation.texts(PATHS);
    match says {
        Says::Verb(verb) => {
            all.is_http = true;
            all.verbs.push(verb.to_owned());
            all.paths.extend(paths);
        }
        Says::Route => {
            all.is_http = true;
            all.verbs.extend(verbs_in(annotation));
            all.paths.extend(paths);
        }
        Says::Path => {
            all.is_http = true;
            all.paths.extend(paths);
        }
        Says::Line => {
            all.is_http = true;
            for line in annotation.texts(&["value"]) {
                let (verb, path) = line.as_str().split_once(' ').unwrap_or(("", line.as_str()));
                all.verbs.push(verb.to_owned());
                all.paths.push(Name::from(path));
            }
        }
        Says::Message => {
            all.topics.extend(annotation.texts(TOPICS));
            for nested in annotation.nested() {
                all.topics.extend(nested.texts(TOPICS));
                let below = nested.nested();
                let queues = below.iter().filter(|a| a.name().1 == "Queue");
                all.topics.extend(queues.flat_map(|a| a.texts(TOPICS)));
            }
        }
    }
}

/// Verbs that stand in an annotation as constants or texts.
fn verbs_in(annotation: &Annotation) -> Vec<String> {
    let texts = annotation.texts(&["method", "methods"]).collect::<Vec<_>>().into_iter();
    let all = annotation.constants().into_iter().chain(texts);
    all.filter(|constant| VERBS.contains(&constant.as_str())).map(|verb| verb.as_str().to_owned()).collect()
}

/// The paths that a class puts before those of its methods: its own, else of what declares them.
pub(super) fn prefixes(resolver: &Resolver<'_>, supers: &[ClassId], declaring: ClassId) -> Vec<Name> {
    let of = |class: ClassId| {
        let annotations = &resolver.program.classes[class.index()].annotations;
        let paths =
            annotations.iter().flat_map(|annotation| prefix_of(resolver, annotation, META_LEVELS_MAX));
        paths.collect::<Vec<Name>>()
    };
    let classes = supers.first().copied().into_iter().chain([declaring]);
    classes.map(of).find(|paths| !paths.is_empty()).unwrap_or_default()
}

fn prefix_of(resolver: &Resolver<'_>, annotation: &Annotation, levels: usize) -> Vec<Name> {
    let (package, name) = annotation.name();
    let is_listed = ANNOTATIONS.iter().any(|row| (row.0, row.1) == (package, name) && row.2 != Says::Message);
    let is_client = CLIENTS.iter().any(|row| (row.0, row.1) == (package, name));
    if is_client {
        return annotation.texts(&["path"]).collect();
    }
    let paths: Vec<Name> = annotation.texts(PATHS).collect();
    if is_listed {
        return paths;
    }
    let own = resolver.own_class(annotation.class).filter(|_| levels > 0);
    let paths = paths.into_iter().filter(|text| is_path(text.as_str()));
    match own {
        Some(own) => {
            let above = &resolver.program.classes[own.index()].annotations;
            let meta: Vec<Name> = above.iter().flat_map(|a| prefix_of(resolver, a, levels - 1)).collect();
            let paths: Vec<Name> = paths.collect();
            if paths.is_empty() { meta } else { paths }
        }
        None => paths.collect(),
    }
}

/// Whether a library implements an interface to ask others.
pub(super) fn is_client(class: &Class) -> bool {
    host_of(class).is_some()
}

/// The host or service that an interface asks, empty if it does not say; none if it is no client.
pub(super) fn host_of(class: &Class) -> Option<String> {
    class.annotations.iter().find_map(|annotation| {
        let (package, name) = annotation.name();
        let row = CLIENTS.iter().find(|row| (row.0, row.1) == (package, name))?;
        let mut names = row
            .2
            .iter()
            .flat_map(|element| annotation.texts(std::slice::from_ref(element)).collect::<Vec<_>>());
        Some(names.next().map(|name| name.as_str().to_owned()).unwrap_or_default())
    })
}

/// Whether an annotation of a method is one that clients alone have.
pub(super) fn is_of_clients(method: &Method) -> bool {
    method.annotations.iter().any(|annotation| CLIENT_PACKAGES.contains(&annotation.name().0))
}

fn is_annotation(class: &Class) -> bool {
    class.interfaces.iter().any(|name| name.as_str() == "java/lang/annotation/Annotation")
}
