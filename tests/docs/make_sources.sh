#!/usr/bin/env bash
# Small sources in the published formats for the commands of the docs: make_sources.sh SOTTO FOLDER
set -euo pipefail
sotto=$1
cd "$2"

"$sotto" --quiet data generate newsroom --users 200 --news 300 --days 4 --seed 3 --out newsroom >/dev/null
mkdir MINDsmall && cp -r newsroom/train newsroom/dev MINDsmall/ && rm -r newsroom

mkdir ml-1m
for i in 1 2 3 4 5 6 7 8; do
  echo "$i::M::25::4::10000" >>ml-1m/users.dat
  echo "$i::Film $i (199$i)::Drama|Comedy" >>ml-1m/movies.dat
  for j in 1 2 3 4 5 6; do echo "$i::$(((i + j) % 8 + 1))::$((j % 5 + 1))::$((978300000 + 60 * j))" >>ml-1m/ratings.dat; done
done

mkdir frappe
printf 'user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity\n' >frappe/frappe.csv
printf 'item\tpackage\tcategory\tdownloads\tdeveloper\ticon\tlanguage\tdescription\tname\tprice\trating\tshort desc\n' >frappe/meta.csv
for i in 0 1 2 3 4 5 6 7; do
  printf '%s\tapp.number%s\tTools\t100\tsomebody\tnone\ten\tA plain app about topic %s\tApp %s\tFree\t4\tshort\n' "$i" "$i" "$i" "$i" >>frappe/meta.csv
  for j in 0 1 2 3 4; do printf '%s\t%s\t1\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n' "$i" "$(((i + j) % 8))" >>frappe/frappe.csv; done
done

mkdir globo
echo 'user_id,session_id,session_start,session_size,click_article_id,click_timestamp,click_environment,click_deviceGroup,click_os,click_country,click_region,click_referrer_type' >globo/clicks.csv
for i in 0 1 2 3; do echo "$i,15068254$i,1506825423000,2,15754$i,150682682802$i,4,3,20,1,20,2" >>globo/clicks.csv; done

mkdir gowalla
for i in 0 1 2 3 4 5 6 7; do
  echo "$i $i $(((i + 1) % 8)) $(((i + 2) % 8))" >>gowalla/train.txt
  echo "$i $(((i + 3) % 8))" >>gowalla/test.txt
done

mkdir -p adressa/one_week
for day in 1 2 3 4 5 6 7; do
  for i in 1 2 3 4 5 6 7 8; do
    printf '{"userId": "u%s", "id": "a%s", "title": "Om sak %s", "time": %s, "category1": "nyheter|trondheim"}\n' \
      "$((i % 3))" "$day$i" "$day$i" "$((1483228800 + 86400 * (day - 1) + 60 * i))" >>adressa/one_week/2017010$day
  done
done
