# What DBeaver 25 asks when it connects and opens its tree down to the columns of a table.
-- 1 rows: public, lprof
SELECT current_schema(),session_user
;
-- 3 rows: public, pg_catalog, information_schema
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass
ORDER BY nspname
;
-- 1 rows: lprof
SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datname='lprof'
;
-- 1 rows: on
SELECT * FROM pg_catalog.pg_settings where name='standard_conforming_strings'
;
-- 1 rows
SELECT string_agg(word, ',' ) from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,all,and,as,between,by,case,from,select,where}'::text[])
;
-- 1 rows: public
SHOW search_path
;
-- 0 rows
select description from pg_shdescription join pg_database on objoid = pg_database.oid where datname = 'lprof'
;
-- * rows: int8, timestamptz, _text
SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid
WHERE t.typname IS NOT NULL
AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
;
-- 12 rows: requests, spans, events
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,  pg_catalog.pg_get_partkeydef(c.oid) as partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
WHERE c.relnamespace={public} AND c.relkind not in ('i','I','c')
;
-- 14 rows: request_id, duration_us, start_ts
SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.relkind not in ('i','I','c') AND c.oid={requests}
ORDER BY a.attnum
;
-- 12 rows
select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size
FROM pg_class c
WHERE c.relnamespace={public}
;
-- 0 rows
SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description, case when c.contype='c' then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass
WHERE c.conrelid={requests}
ORDER BY c.oid
;
-- 0 rows
SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,pg_catalog.pg_relation_size(i.indexrelid) as index_rel_size,pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid
WHERE i.indrelid={requests} ORDER BY tabrelname, c.relname
;
-- 0 rows
SELECT x.oid,x.*,p.pronamespace as func_schema_id,d.description
FROM pg_catalog.pg_trigger x
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid=x.tgfoid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=x.oid AND d.objsubid=0 AND d.classoid='pg_trigger'::regclass
WHERE x.tgrelid={requests} AND NOT x.tgisinternal
;
-- 0 rows
SELECT i.*,c.relnamespace FROM pg_catalog.pg_inherits i,pg_catalog.pg_class c WHERE i.inhrelid={requests} AND c.oid=i.inhparent ORDER BY i.inhseqno
;
-- 0 rows
SELECT p.oid as poid,p.*,pg_catalog.pg_get_expr(p.proargdefaults, 0) as arg_defaults,d.description
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=p.oid AND d.objsubid = 0 AND d.classoid='pg_proc'::regclass
WHERE p.pronamespace={public}
ORDER BY p.proname
;
-- 1 rows: lprof
SELECT a.oid,a.*,pd.description FROM pg_catalog.pg_roles a
left join pg_catalog.pg_shdescription pd on a.oid = pd.objoid
ORDER BY a.rolname
;
-- 2 rows: pg_default, pg_global
SELECT t.oid,t.*,pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid
;
-- * rows: internal, sql
SELECT l.oid,l.* FROM pg_catalog.pg_language l ORDER BY l.oid
;
-- * rows: heap, btree
SELECT a.oid,a.* FROM pg_catalog.pg_am a ORDER BY a.oid
;
-- 149 rows: ClientHandler.writeBlock
SELECT x.* FROM public.requests x
LIMIT 200
